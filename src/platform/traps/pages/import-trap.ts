import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Markup } from '../../../core/html/markup.ts';
import { idempotencyKey } from '../../http/fields.ts';
import { serveOperationForm } from '../../operations/form.ts';
import { field, onceField, select } from '../../web/fields.ts';
import { emptyAsNone } from '../../web/form-lines.ts';
import type { FormState } from '../../web/forms.ts';
import type { DecoyPlace } from '../decoys/decoy.ts';
import { realKeyOperations } from '../operations/credentials.ts';
import { importedKeySchema } from '../wire.ts';
import { madeTrapPage } from './made-trap.ts';
import type { TrapPageParts } from './parts.ts';
import { ABOVE_TRAPS, TRAPS_API } from './paths.ts';
import { expiryField, labelField, placeField, plantingSchema } from './planting.ts';

const { access_key_id, secret_access_key, user_name, region, decoy } = importedKeySchema.shape;

const schema = z.object({
  once: idempotencyKey,
  ...plantingSchema,
  access_key_id,
  expires_at: plantingSchema.expires_at.transform((at) => at ?? null),
  secret_access_key: z.preprocess(emptyAsNone, secret_access_key),
  user_name: z.preprocess(emptyAsNone, user_name),
  region: z.preprocess(emptyAsNone, region),
  decoy: z.preprocess(emptyAsNone, decoy),
});

/** Serves the form that imports an AWS key as a trap. */
export function importTrapPage(server: FastifyInstance, { service, clock }: TrapPageParts): void {
  serveOperationForm(server, realKeyOperations(service).importTrap, {
    path: '/traps/import',
    api: TRAPS_API,
    schema,
    refused: { conflict: 'access_key_id' },
    view: ({ form }) => ({
      title: 'Import an AWS key',
      isNarrow: true,
      above: ABOVE_TRAPS,
      introduction:
        'A real key of an AWS user without permissions. Its uses are detected when CloudTrail events arrive.',
      fields: keyFields(form, service.places()),
      submit: 'Import it',
    }),
    example: () => EXAMPLE,
    done: (made) => madeTrapPage(made, clock()),
  });
}

const EXAMPLE = { plant_location: 'ci', label: 'Deployment', access_key_id: 'AKIA…' };

function keyFields(form: FormState, places: readonly DecoyPlace[]): (Markup | null)[] {
  const decoys = places
    .filter(({ kind }) => kind === 'aws')
    .map(({ name, host }) => ({ value: name, label: `${name} (${host})` }));
  const secret = 'Needed for the file to plant. AWS channels do not need it.';
  const leads = 'The planted key leads to AWS itself, or to a decoy.';
  const optional = { autocomplete: 'off', isOptional: true } as const;
  const password = { ...optional, type: 'password', hint: secret } as const;
  return [
    onceField(form),
    labelField(form),
    field(form, { name: 'access_key_id', label: 'Access key ID', hint: 'Begins with AKIA.', autocomplete: 'off' }),
    field(form, { ...password, name: 'secret_access_key', label: 'Secret access key' }),
    field(form, { ...optional, name: 'user_name', label: 'User', hint: 'Name of the IAM user.' }),
    field(form, { ...optional, name: 'region', label: 'Region', hint: 'Default: us-east-1.' }),
    placeField(form),
    decoys.length === 0
      ? null
      : select(form, { name: 'decoy', label: 'Leads to', hint: leads }, [{ value: '', label: 'AWS' }, ...decoys]),
    expiryField(form),
  ];
}
