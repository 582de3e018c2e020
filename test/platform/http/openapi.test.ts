import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { someRows } from '../../support/some-rows.ts';
import { type Service, startService } from '../service.ts';
import { sendDrawn } from './drawn-requests.ts';
import { CANNOT_SUCCEED, neverSucceeded, startDrawn } from './drawn-service.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

/** Operations on agents that need no key. */
const PUBLIC = [
  ...['verifyAgent', 'getStatusList', 'getKeys', 'getRevocationList', 'getDidDocument', 'getAgentCard'],
  ...['getEcdsaAuthority', 'getMlDsaAuthority'],
];

describe.each(['audit', 'traps', 'endpoints', 'agents', 'alerts', 'keys', 'people', 'administration'])(
  'the document of %s',
  (name) => {
    const read = async () =>
      (await service.call('GET', `//${name}/openapi.json`, undefined, { authorization: '' })).body;

    test('is valid', async () => {
      expect(await new Validator().validate(await read())).toMatchObject({ valid: true });
    });

    test('names every operation, what it is of, its scope, and each failure of all routes', async () => {
      const { paths } = await read();
      const operations = Object.values<Record<string, Operation>>(paths).flatMap((methods) => Object.values(methods));
      const ids = operations.map(({ operationId }) => operationId);
      expect(new Set(ids).size).toBe(ids.length);
      for (const { operationId, tags, security, responses } of operations) {
        expect(operationId).toMatch(/^[a-z][A-Za-z]+$/);
        expect(tags).toHaveLength(1);
        const scope = expect.stringMatching(new RegExp(`^${name}:(read|write|export|report|act)$`));
        expect([operationId, security]).toEqual([operationId, PUBLIC.includes(operationId) ? [] : [{ key: [scope] }]]);
        expect(Object.keys(responses)).toEqual(
          expect.arrayContaining(['400', '401', '403', '408', '415', '429', '431', '500', '503']),
        );
      }
    });

    test('describes the API key', async () => {
      const { components } = await read();
      expect(components.securitySchemes.key).toMatchObject({
        type: 'http',
        scheme: 'bearer',
        description: expect.stringContaining('evidence-platform'),
      });
    });
  },
);

interface Operation {
  operationId: string;
  tags: string[];
  security: unknown;
  responses: object;
}

test('metadata of a new entry is an object', async () => {
  const { paths } = (await service.call('GET', '/openapi.json')).body;
  const { schema } = paths['/entries/'].post.requestBody.content['application/json'];
  expect(schema.properties.metadata).toMatchObject({ type: 'object', additionalProperties: true });
  expect(schema.required).not.toContain('metadata');
});

test.each(someRows([500, 3000], () => 'drawn'))(
  '%i requests drawn from the documents are answered as these say',
  async (requests) => {
    // A platform for this test alone: other tests' requests revoke and remove records.
    const { service: own, known, close } = await startDrawn(startService);
    try {
      const statuses = await sendDrawn(own, { requests, seed: 20261129, known, inVain: CANNOT_SUCCEED });
      expect(neverSucceeded(statuses)).toEqual([]);
    } finally {
      await close();
    }
  },
);
