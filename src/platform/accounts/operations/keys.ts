import { pageSchema } from '../../http/wire.ts';
import { operationGroup } from '../../operations/operation.ts';
import type { IssuedKey } from '../api-keys.ts';
import type { ApiKeys } from '../keys.ts';
import {
  apiKeySchema,
  issuedKeySchema,
  keyParamsSchema,
  keyQuerySchema,
  madeKeySchema,
  newKeySchema,
  personParamsSchema,
  revokedKeysSchema,
  rotationSchema,
} from '../wire.ts';

const KEYS = operationGroup('keys', 'keys');

// Over 40 lines: it is a list of operations.
export function keyOperations(keys: ApiKeys) {
  return {
    makeApiKey: KEYS.post('/', {
      summary: 'Create an API key; its text is returned only once',
      body: newKeySchema,
      isKeyed: true,
      status: 201,
      answer: issuedKeySchema,
      refusals: [409, 422],
      work: async ({ actor, body, key }) => toAnswer(await keys.make(actor, body, key)),
    }),
    listApiKeys: KEYS.get('/', {
      summary: 'List the API keys, newest first',
      query: keyQuerySchema,
      answer: pageSchema(madeKeySchema),
      refusals: [422],
      work: ({ query }) => keys.list(query),
    }),
    rotateApiKey: KEYS.post('/:key_id/rotate', {
      summary: 'Rotate an API key: create its replacement; the old key stays valid for the overlap',
      params: keyParamsSchema,
      body: rotationSchema,
      isKeyed: true,
      status: 201,
      answer: issuedKeySchema,
      refusals: [404, 409, 422],
      work: async ({ actor, params, body, key }) => toAnswer(await keys.rotate(actor, params.key_id, body, key)),
    }),
    revokeApiKey: KEYS.post('/:key_id/revoke', {
      summary: 'Revoke an API key immediately',
      params: keyParamsSchema,
      answer: apiKeySchema,
      refusals: [404, 409],
      work: ({ actor, params }) => keys.revoke(actor, params.key_id),
    }),
    revokeKeysOfMaker: KEYS.post('/makers/:person_id/revoke', {
      summary: 'Revoke all API keys that a person made',
      params: personParamsSchema,
      answer: revokedKeysSchema,
      refusals: [404],
      work: ({ actor, params }) => keys.revokeOf(actor, params.person_id),
    }),
  };
}

function toAnswer({ key, text }: IssuedKey) {
  return { ...key, api_key: text };
}
