import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Markup } from '../../../core/html/markup.ts';
import { idempotencyKey } from '../../http/fields.ts';
import { actorOf, principalOf } from '../../http/principal.ts';
import { asCurl } from '../../web/components.ts';
import { curlCommand } from '../../web/curl.ts';
import { field, onceField, postForm, select } from '../../web/fields.ts';
import { type FormState, serveForm } from '../../web/forms.ts';
import type { DecoyPlace } from '../decoys/decoy.ts';
import { importedKeySchema } from '../wire.ts';
import { madeTrapPage } from './made-trap.ts';
import { MAY_ACT, type TrapPageParts } from './parts.ts';
import { ABOVE_TRAPS, trapsApi } from './paths.ts';
import { expiryField, labelField, placeField, plantingSchema } from './planting.ts';

const unlessEmpty = <T extends z.ZodType>(schema: T) =>
  z.preprocess((given) => (given === '' ? undefined : given), schema);
const { access_key_id, secret_access_key, user_name, region, decoy } = importedKeySchema.shape;

const schema = z.object({
  once: idempotencyKey,
  ...plantingSchema,
  access_key_id,
  secret_access_key: unlessEmpty(secret_access_key),
  user_name: unlessEmpty(user_name),
  region: unlessEmpty(region),
  decoy: unlessEmpty(decoy),
});

/** A key that somebody made in AWS, as a trap. */
export function importTrapPage(server: FastifyInstance, { service, clock }: TrapPageParts): void {
  serveForm(server, {
    path: '/traps/import',
    access: MAY_ACT,
    schema,
    fields: { conflict: 'access_key_id' },
    show: (form, request, reply) => ({
      title: 'Import a key of AWS',
      isNarrow: true,
      above: ABOVE_TRAPS,
      introduction:
        'A real key of a user without any rights, made in AWS. Its use there is seen in CloudTrail, once events come in.',
      content: [
        postForm({ request, reply, form }, { fields: keyFields(form, service.places()), submit: 'Import it' }),
        asCurl(
          'curl',
          curlCommand(request, { method: 'POST', path: trapsApi('credentials', 'import'), body: EXAMPLE }),
        ),
      ],
    }),
    async act({ once, expires_at = null, ...key }, request) {
      const made = await service.realKeys.import(actorOf(principalOf(request)), { ...key, expires_at }, once);
      return madeTrapPage(made, clock());
    },
  });
}

const EXAMPLE = { plant_location: 'ci', label: 'Deployment', access_key_id: 'AKIA…' };

function keyFields(form: FormState, places: readonly DecoyPlace[]): (Markup | null)[] {
  const decoys = places
    .filter(({ kind }) => kind === 'aws')
    .map(({ name, host }) => ({ value: name, label: `${name} (${host})` }));
  const secret = 'Needed for the file to plant. No channel of AWS needs it.';
  const leads = 'What is planted leads to AWS itself, or to a decoy.';
  return [
    onceField(form),
    labelField(form),
    field(form, { name: 'access_key_id', label: 'Access key ID', hint: 'It begins with AKIA.', autocomplete: 'off' }),
    field(form, {
      name: 'secret_access_key',
      label: 'Secret access key',
      type: 'password',
      hint: secret,
      autocomplete: 'off',
      isOptional: true,
    }),
    field(form, {
      name: 'user_name',
      label: 'User',
      hint: 'As IAM calls them.',
      autocomplete: 'off',
      isOptional: true,
    }),
    field(form, {
      name: 'region',
      label: 'Region',
      hint: 'us-east-1, if none is said.',
      autocomplete: 'off',
      isOptional: true,
    }),
    placeField(form),
    decoys.length === 0
      ? null
      : select(form, { name: 'decoy', label: 'Leads to', hint: leads }, [{ value: '', label: 'AWS' }, ...decoys]),
    expiryField(form),
  ];
}
