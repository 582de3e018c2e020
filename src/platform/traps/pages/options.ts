import type { Markup } from '../../../core/html/markup.ts';
import type { Json } from '../../../core/json/canonical.ts';
import { type Choice, field, select } from '../../web/fields.ts';
import type { FormState } from '../../web/forms.ts';
import type { CredentialType } from '../enums.ts';

/** Option of a type. */
export interface TypeOption {
  name: string;
  label: string;
  /** Hint, which also states the default. */
  hint?: string;
  /** Choices; the first is the default. */
  among?: readonly Choice[];
  isNumber?: true;
}

const named = (value: string, label = value): Choice => ({ value, label });

/** Form fields for the options of each type: see the type's file in `types/`. */
export const TYPE_OPTIONS: Partial<Record<CredentialType, readonly TypeOption[]>> = {
  aws_key: [
    {
      name: 'account_id',
      label: 'Account',
      hint: 'Twelve digits. Default: a random account that is on no public list.',
    },
    { name: 'region', label: 'Region', hint: 'Default: us-east-1.' },
  ],
  db_connection_string: [
    {
      name: 'form',
      label: 'File',
      among: [named('env', 'settings of an application (.env)'), named('pgpass', '.pgpass')],
    },
    { name: 'database', label: 'Database', hint: 'Default: a plausible name.' },
  ],
  ssh_key: [{ name: 'algorithm', label: 'Algorithm', among: [named('ed25519', 'Ed25519'), named('rsa', 'RSA')] }],
  kubeconfig: [
    {
      name: 'auth',
      label: 'Authentication',
      among: [named('token', 'a token'), named('certificate', 'a certificate')],
    },
  ],
  api_token: [
    {
      name: 'form',
      label: 'Form',
      among: [named('generic', 'any API'), named('gitlab', 'GitLab'), named('grafana', 'Grafana')],
    },
  ],
  jwt: [
    { name: 'audience', label: 'Audience', hint: 'Default: api.' },
    {
      name: 'valid_days',
      label: 'Days of validity',
      hint: 'Default: five years. The trap itself does not expire.',
      isNumber: true,
    },
  ],
  git_https: [{ name: 'repository', label: 'Repository', hint: 'group/project. Default: a plausible name.' }],
  mcp_server: [{ name: 'name', label: 'Name in the file', hint: 'Default: internal-tools.' }],
};

const fieldName = (type: CredentialType, { name }: TypeOption) => `${type}.${name}`;

/** Renders the fields for the options of a type; null if the type has none. */
export function optionFields(form: FormState, type: CredentialType): Markup[] | null {
  const options = TYPE_OPTIONS[type];
  if (options === undefined) return null;
  return options.map((option) => {
    const { label, hint, among } = option;
    const view = { name: fieldName(type, option), label, ...(hint === undefined ? {} : { hint }) };
    return among === undefined
      ? field(form, { ...view, autocomplete: 'off', isOptional: true })
      : select(form, view, among);
  });
}

/** Reads the options of one type from a form; options of other types are ignored. */
export function optionsOf(type: CredentialType, sent: Readonly<Record<string, unknown>>): { [name: string]: Json } {
  const told = (TYPE_OPTIONS[type] ?? []).map((option) => {
    const text = sent[fieldName(type, option)];
    if (typeof text !== 'string' || text === '') return [];
    return [[option.name, option.isNumber === true && /^\d{1,9}$/.test(text) ? Number(text) : text]] as const;
  });
  return Object.fromEntries(told.flat());
}
