import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { type Markup, markup, name } from '../../../core/html/markup.ts';
import { idempotencyKey, instant, text } from '../../http/fields.ts';
import { serveOperationAct } from '../../operations/act.ts';
import { serveOperationForm } from '../../operations/form.ts';
import { SCOPE_HINTS, SCOPES, type Scope } from '../../scopes.ts';
import { personOf } from '../../web/access.ts';
import { copyable } from '../../web/components.ts';
import { curlCommand } from '../../web/curl.ts';
import { type Choice, choices, field, onceField, select, textArea } from '../../web/fields.ts';
import { linesOfField } from '../../web/form-lines.ts';
import type { FormState } from '../../web/forms.ts';
import type { PageView } from '../../web/layout.ts';
import { KEY_PRESETS, type KeyPreset } from '../enums.ts';
import type { ApiKeys } from '../keys.ts';
import { keyOperations } from '../operations/keys.ts';
import { PRESET_HINTS, scopesOfPreset } from '../presets.ts';
import type { issuedKeySchema } from '../wire.ts';
import { KEYS_PATH, keyPath } from './paths.ts';

const ABOVE = [{ title: 'API keys', path: KEYS_PATH }];

/** Access to pages that issue keys, which requires a fresh authentication; ending a key does not. */
const MAKING = { scope: 'keys:write', proved: true } as const;

export function keyActPages(server: FastifyInstance, parts: { keys: ApiKeys; clock: () => Date }): void {
  makePage(server, parts);
  rotatePage(server, parts);
  revokePage(server, parts);
  revokeAllPage(server, parts);
}

const OWN_SCOPES = 'own';

/** Fields of a new key. Those of a choice that is not selected are ignored. */
const NEW_KEY = z
  .object({
    once: idempotencyKey,
    name: text.trim().min(1, 'Enter a purpose').max(200),
    purpose: z.enum([...KEY_PRESETS, OWN_SCOPES], 'Choose a purpose'),
    scopes: z.preprocess((given) => (given === undefined ? [] : [given].flat()), z.array(z.enum(SCOPES))),
    streams: z.preprocess(linesOfField, z.array(text)),
    actor: text.trim().default(''),
    expires_at: z.preprocess((given) => (given === '' ? null : given), instant.nullable()),
  })
  .refine(({ purpose, scopes }) => purpose !== OWN_SCOPES || scopes.length > 0, {
    path: ['scopes'],
    message: 'Choose at least one scope',
  })
  .transform(({ once, name: title, purpose, scopes, streams, actor, expires_at }) => ({
    once,
    name: title,
    expires_at,
    ...(purpose === OWN_SCOPES ? { scopes } : { preset: purpose }),
    ...(purpose === 'recorder' && streams.length > 0 ? { streams } : {}),
    ...(purpose === 'recorder' && actor !== '' ? { actor } : {}),
  }));

function makePage(server: FastifyInstance, { keys, clock }: { keys: ApiKeys; clock: () => Date }): void {
  serveOperationForm(server, keyOperations(keys).makeApiKey, {
    path: '/keys/new',
    api: '/keys',
    access: MAKING,
    schema: NEW_KEY,
    view: ({ form, request }) => ({
      title: 'Create an API key',
      isNarrow: true,
      above: ABOVE,
      fields: [onceField(form), ...newKeyFields(form, request, clock())],
      submit: 'Create',
    }),
    example: () => EXAMPLE,
    done: (issued, _subject, request) => shownOnce(issued, request),
  });
}

function rotatePage(server: FastifyInstance, { keys }: { keys: ApiKeys }): void {
  serveOperationForm(server, keyOperations(keys).rotateApiKey, {
    path: '/keys/:key_id/rotate',
    api: '/keys',
    access: MAKING,
    schema: z.object({ once: idempotencyKey, overlap_seconds: z.coerce.number().int().min(0).max(2_592_000) }),
    subject: ({ key_id }) => keys.find(key_id),
    view({ form }, key) {
      const hint = 'Both keys are valid during this time. Replace the old key wherever it is used.';
      const overlap = select(form, { name: 'overlap_seconds', label: 'Overlap', hint, value: '86400' }, OVERLAPS);
      return {
        title: `Rotate ${key.name}`,
        isNarrow: true,
        above: [...ABOVE, { title: key.name, path: keyPath(key.key_id) }],
        introduction: 'A new key with the same name and scopes replaces it.',
        fields: [onceField(form), overlap],
        submit: 'Rotate',
      };
    },
    example: () => ({ overlap_seconds: 86_400 }),
    done: (issued, _subject, request) => shownOnce(issued, request),
  });
}

function revokePage(server: FastifyInstance, { keys }: { keys: ApiKeys }): void {
  serveOperationAct(server, keyOperations(keys).revokeApiKey, {
    path: '/keys/:key_id/revoke',
    api: '/keys',
    subject: ({ key_id }) => keys.find(key_id),
    view: ({ name: title, key_id }) => ({
      title: `Revoke ${title}`,
      above: [...ABOVE, { title, path: keyPath(key_id) }],
      introduction: 'The key stops working immediately and permanently.',
      submit: 'Revoke it',
      isFinal: true,
      back: keyPath(key_id),
    }),
    notice: ({ name: title }) => `${title} is revoked.`,
    next: KEYS_PATH,
  });
}

function revokeAllPage(server: FastifyInstance, { keys }: { keys: ApiKeys }): void {
  serveOperationAct(server, keyOperations(keys).revokeKeysOfMaker, {
    path: '/keys/makers/:person_id/revoke',
    api: '/keys',
    subject: ({ person_id }) => keys.maker(person_id),
    view: ({ name: maker }) => ({
      title: `Revoke all keys of ${maker}`,
      above: ABOVE,
      introduction:
        'Every API key that this person made stops working immediately and permanently, also those of agents and endpoints that they added.',
      submit: 'Revoke them',
      isFinal: true,
      back: KEYS_PATH,
    }),
    notice: (_maker, { revoked }) => `${revoked} keys were revoked.`,
  });
}

const EXAMPLE = { name: 'exporter', preset: 'exporter', expires_at: null };

const OVERLAPS: readonly Choice[] = [
  { value: '0', label: 'none: the old key ends immediately' },
  { value: '3600', label: '1 hour' },
  { value: '86400', label: '1 day' },
  { value: '604800', label: '7 days' },
];

function newKeyFields(form: FormState, request: FastifyRequest, now: Date): Markup[] {
  const { scopes } = personOf(request);
  const hint = 'Purpose of the key, as others see it.';
  const own = SCOPES.filter((scope) => scopes.includes(scope));
  const presets = KEY_PRESETS.filter((preset) => scopesOfPreset(preset).every((scope) => own.includes(scope)));
  return [
    field(form, { name: 'name', label: 'Name', hint, isFirst: true }),
    choices(form, { name: 'purpose', label: 'What the key may do', type: 'radio' }, [
      ...presets.map((preset) => presetChoice(form, preset)),
      { value: OWN_SCOPES, label: 'Other scopes', fields: [scopeChoices(form, own)] },
    ]),
    select(form, { name: 'expires_at', label: 'Valid for', value: endOfDay(now, 90) }, [
      ...[30, 90, 365].map((days) => ({ value: endOfDay(now, days), label: `${days} days` })),
      { value: '', label: 'until it is revoked' },
    ]),
  ];
}

function presetChoice(form: FormState, preset: KeyPreset): Choice {
  const choice = { value: preset, label: preset, hint: PRESET_HINTS[preset] };
  if (preset !== 'recorder') return choice;
  const streams = 'One pattern per line, in which * stands for any text, such as payments/*. Empty for any stream.';
  const actor = 'Name that all entries must have as their actor. Empty for any.';
  return {
    ...choice,
    fields: [
      textArea(form, { name: 'streams', label: 'Only to these streams', hint: streams, isOptional: true }, 3),
      field(form, { name: 'actor', label: 'Only as this actor', hint: actor, isOptional: true }),
    ],
  };
}

function scopeChoices(form: FormState, own: readonly Scope[]): Markup {
  const may = own.map((scope) => ({ value: scope, label: scope, hint: SCOPE_HINTS[scope] }));
  return choices(form, { name: 'scopes', label: 'Scopes', type: 'checkbox' }, may);
}

/** Returns the end of a day in UTC, so that a form submitted again a little later makes the same request. */
function endOfDay(now: Date, days: number): string {
  return `${new Date(now.getTime() + days * 86_400_000).toISOString().slice(0, 10)}T23:59:59.999Z`;
}

function shownOnce(issued: z.input<typeof issuedKeySchema>, request: FastifyRequest): PageView {
  const { name: title, api_key, scopes } = issued;
  return {
    title: 'The new API key',
    above: ABOVE,
    introduction: markup`${name(title)} is now valid. Copy it now: it cannot be shown again.`,
    content: markup`<div class="secret">${copyable('key', 'The API key', api_key)}</div>
<h2>Usage</h2>
${copyable('usage', 'Commands that use the key', usageOf(scopes, request))}
<p><a href="${KEYS_PATH}">I have saved it</a></p>`,
  };
}

/** Example request for each scope. */
const FIRST_PATHS: readonly [Scope, string][] = [
  ['audit:read', '/audit/streams/'],
  ['keys:read', '/keys/'],
  ['people:read', '/people/'],
  ['administration:read', '/administration/acts'],
  ['metrics:read', '/metrics'],
];

/** Returns commands that set the key as a variable and make an allowed call, if the key may read anything. */
function usageOf(scopes: readonly Scope[], request: FastifyRequest): string {
  const [, path] = FIRST_PATHS.find(([scope]) => scopes.includes(scope)) ?? [];
  const call = path === undefined ? [] : [curlCommand(request, { path })];
  return ['export EVIDENCE_API_KEY=…', ...call].join('\n');
}
