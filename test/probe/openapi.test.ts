import { expect, test } from 'vitest';
import { NO_HINTS, readOpenApi } from '../../src/probe/openapi.ts';

const json = (schema: object) => ({ content: { 'application/json': { schema } } });

const DOCUMENT = {
  paths: {
    '/audit/entries': { get: { parameters: [{ $ref: '#/components/parameters/Limit' }, { name: 'x', in: 'header' }] } },
    '/audit/evidence/generate': {
      post: {
        parameters: [{ name: 'Idempotency-Key', in: 'header', schema: { type: 'string' } }],
        requestBody: json({ $ref: '#/components/schemas/Wanted' }),
        responses: { '201': json({ properties: { id: { type: 'string' } } }) },
      },
    },
    '/audit/chains/{name}/check': { post: { operationId: 'verifyChain' } },
    '/audit/streams/{name}/check': {
      post: {
        operationId: 'verify_it',
        responses: {
          '200': json({
            properties: {
              cached: { type: 'boolean' },
              intact: { type: 'boolean' },
              notes: { type: 'array' },
              failures: {
                type: 'array',
                items: { properties: { code: { type: 'integer' }, position: { type: 'integer' } } },
              },
            },
          }),
        },
      },
    },
  },
  components: {
    parameters: {
      Limit: { name: 'limit', in: 'query', schema: { anyOf: [{ type: 'null' }, { type: 'integer', maximum: 50 }] } },
    },
    schemas: {
      HTTPValidationError: {},
      Wanted: {
        required: ['since'],
        properties: {
          since: { type: ['string', 'null'], format: 'date-time' },
          loop: { $ref: '#/components/schemas/Loop' },
        },
      },
      Loop: { $ref: '#/components/schemas/Loop' },
    },
  },
};

test('parameters, bodies and the verify operation are read, behind references and below a prefix', () => {
  const hints = readOpenApi(JSON.parse(JSON.stringify(DOCUMENT)), '/audit');
  expect(hints.isPython).toBe(true);
  expect(hints.entries).toEqual([
    { name: 'limit', type: 'integer', format: '', required: false, maximum: 50, values: [] },
  ]);
  expect(hints.generate?.idempotencyHeader).toBe('Idempotency-Key');
  expect(hints.generate?.body.map(({ name, type, format, required }) => [name, type, format, required])).toEqual([
    ['since', 'string', 'date-time', true],
    ['loop', '', '', false],
  ]);
  expect(hints.verify).toEqual({
    path: '/streams/{stream_id}/check',
    fields: { verified: 'intact', checked_at: null, failures: 'failures', failure_sequence: 'position' },
  });
});

test('what is no such document is no hint', () => {
  for (const other of [null, [], 'x', {}, { paths: [] }]) expect(readOpenApi(other, '')).toEqual(NO_HINTS);
});
