import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import fc from 'fast-check';
import { expect } from 'vitest';
import type { Service } from './service.ts';

/** Part of a JSON schema of the documents. */
interface Schema {
  $ref?: string;
  type?: string;
  enum?: unknown[];
  anyOf?: Schema[];
  format?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  maxItems?: number;
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
}

type Content = Record<string, { schema: Schema }>;

interface Operation {
  operationId: string;
  parameters?: { name: string; in: 'path' | 'query' | 'header'; required?: boolean; schema: Schema }[];
  requestBody?: { content: Content };
  responses: Record<string, { content?: Content }>;
}

interface Document {
  servers: [{ url: string }];
  paths: Record<string, Record<string, Operation>>;
}

interface Drawn {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string | undefined;
}

/** What often breaks something. */
const ODD_TEXTS = [
  ...['', ' ', '.', '..', '\0', 'a\0b', '\ud800', '\u202e', '%00', '%', '../../x', '__proto__', 'constructor'],
  ...["' OR 1=1 --", '"; DROP TABLE entries; --', '\\', '{"a":1}', 'null', '-1', '1e400', 'x'.repeat(5000)],
];
const oddText = fc.oneof(fc.constantFrom(...ODD_TEXTS), fc.string({ unit: 'binary', maxLength: 40 }));
const oddValue = fc.oneof(oddText, fc.jsonValue({ maxDepth: 3 }), fc.constantFrom(-1, 1e308, 2 ** 53, [], {}, null));

/** Mostly the one, and at times the other. */
function mostly<T>(usual: fc.Arbitrary<T>, odd: fc.Arbitrary<T>, weight = 40): fc.Arbitrary<T> {
  return fc.oneof({ arbitrary: usual, weight }, { arbitrary: odd, weight: 1 });
}

/** Values of a schema, and at times anything else. @param name of what has them. */
function drawnFrom(schema: Schema, ids: KnownIds, name = ''): fc.Arbitrary<unknown> {
  if (schema.enum !== undefined) return mostly(fc.constantFrom(...schema.enum), oddValue);
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map((each) => drawnFrom(each, ids, name)));
  switch (schema.type) {
    case 'string':
      return mostly<unknown>(textOf(schema, ids[name] ?? Object.values(ids).flat()), oddValue);
    case 'integer':
    case 'number':
      return mostly<unknown>(
        fc.integer({ min: schema.minimum ?? -5, max: Math.min(schema.maximum ?? 1000, 5000) }),
        oddValue,
      );
    case 'array':
      return fc.array(drawnFrom(schema.items ?? {}, ids, name), { maxLength: 5 });
    case 'object':
      return objectOf(schema, ids);
    case 'null':
      return fc.constant(null);
    default:
      return oddValue;
  }
}

function textOf({ format, minLength = 0, maxLength = 60 }: Schema, known: readonly string[]): fc.Arbitrary<string> {
  if (format === 'date-time')
    return fc
      .date({ min: new Date('2020-01-01'), max: new Date('2030-01-01'), noInvalidDate: true })
      .map((date) => date.toISOString());
  if (format === 'email') return fc.emailAddress();
  return fc.oneof(
    fc.constantFrom(...known),
    fc.string({ unit: 'grapheme', minLength, maxLength: Math.min(maxLength, 60) }),
  );
}

function objectOf({ properties = {}, required = [] }: Schema, ids: KnownIds): fc.Arbitrary<unknown> {
  if (Object.keys(properties).length === 0)
    return fc.dictionary(oddText, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 5 });
  const members = Object.fromEntries(
    Object.entries(properties).map(([name, each]) => [name, drawnFrom(each, ids, name)]),
  );
  const whole = fc.record(members, { requiredKeys: required });
  return mostly<unknown>(
    whole,
    fc.oneof(
      fc.record(members, { requiredKeys: [] }),
      whole.map((value) => ({ ...value, more: 1 })),
    ),
  );
}

/** Ids, and other texts, that lead somewhere, by the name of the parameter or the member that they are of. */
export type KnownIds = Readonly<Record<string, readonly string[]>>;

/** Requests of an operation. */
function requestsOf(url: string, method: string, operation: Operation, ids: KnownIds): fc.Arbitrary<Drawn> {
  const known = Object.values(ids).flat();
  const { parameters = [], requestBody } = operation;
  const given = (place: string) => parameters.filter((parameter) => parameter.in === place);
  const inPath = fc.record(
    Object.fromEntries(
      given('path').map(({ name }) => [
        name,
        mostly(fc.constantFrom(...(ids[name] ?? known)), fc.oneof(fc.constantFrom(...known), oddText), 3),
      ]),
    ),
  );
  const inQuery = fc.record(
    Object.fromEntries(given('query').map(({ name, schema }) => [name, drawnFrom(schema, ids, name)])),
    { requiredKeys: [] },
  );
  const key = fc.option(mostly(fc.constantFrom('k1', 'k2', 'k3'), fc.string({ maxLength: 1100 }), 6));
  const schema = requestBody?.content['application/json']?.schema;
  const body =
    schema === undefined
      ? fc.constant(undefined)
      : mostly<string | undefined>(
          drawnFrom(schema, ids).map((value) => JSON.stringify(value)),
          fc.oneof(oddText, fc.constant(undefined)),
          20,
        );
  return fc
    .record({ inPath, inQuery, key, body, isKnown: mostly(fc.constant(true), fc.constant(false), 30) })
    .map((drawn) => ({
      method: method.toUpperCase(),
      path: `/${url.replace(/\{(\w+)\}/g, (_, name: string) => inUrl(drawn.inPath[name] ?? ''))}?${queryOf(drawn.inQuery)}`,
      headers: {
        ...(drawn.key === null || given('header').length === 0 ? {} : { 'idempotency-key': drawn.key.trim() }),
        ...(drawn.isKnown ? {} : { authorization: 'Bearer sk_wrong' }),
      },
      body: drawn.body,
    }));
}

/** A segment of a path. What URL parsers take for another path is another request. */
function inUrl(text: string): string {
  const segment = encodeURIComponent(text.toWellFormed());
  return ['', '.', '..'].includes(segment) ? 'x' : segment;
}

function queryOf(values: Record<string, unknown>): string {
  const pairs = Object.entries(values).map(([name, value]): [string, string] => [
    name,
    (typeof value === 'string' ? value : JSON.stringify(value)).toWellFormed(),
  ]);
  return new URLSearchParams(pairs).toString();
}

export interface DrawnRun {
  requests: number;
  seed: number;
  known: KnownIds;
}

/**
 * Sends requests drawn from the documents of a service: none of them fails in the service, and every answer is one that
 * the document has.
 * @returns the statuses that each operation was answered with.
 */
export async function sendDrawn(
  service: Service,
  { requests, seed, known }: DrawnRun,
): Promise<Map<string, Set<number>>> {
  const operations = (
    await Promise.all(
      ['audit', 'traps', 'endpoints', 'agents', 'alerts', 'keys', 'people', 'administration'].map((name) =>
        operationsOf(service, name, known),
      ),
    )
  ).flat();
  const seen = new Map(operations.map(({ id }) => [id, new Set<number>()]));
  const drawn = fc.oneof(
    ...operations.map(({ id, arbitrary, judge }) => arbitrary.map((request) => ({ id, request, judge }))),
  );
  await fc.assert(
    fc.asyncProperty(drawn, async ({ id, request: { method, path, headers, body }, judge }) => {
      const answer = await service.call(method, path, body, headers);
      judge(answer.status, answer.headers.get('content-type') ?? '', answer.body);
      seen.get(id)?.add(answer.status);
    }),
    { numRuns: requests, seed },
  );
  return seen;
}

async function operationsOf(service: Service, name: string, known: KnownIds) {
  const document: Document = (await service.call('GET', `//${name}/openapi.json`)).body;
  const ajv = new Ajv2020({ strict: false, allErrors: false });
  addFormats.default(ajv);
  ajv.addSchema(document, name);
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      id: operation.operationId,
      arbitrary: requestsOf(`${document.servers[0].url}${path}`, method, operation, known),
      judge(status: number, type: string, body: unknown) {
        expect(status, JSON.stringify(body)).toBeLessThan(500);
        expect(Object.keys(operation.responses), operation.operationId).toContain(String(status));
        const [mediaType = ''] = type.split(';', 1);
        expect(Object.keys(operation.responses[status]?.content ?? {})).toContain(mediaType);
        if (mediaType.endsWith('json')) {
          const place = ['paths', path, method, 'responses', String(status), 'content', mediaType, 'schema'];
          const reference = `${name}#/${place.map(inPointer).join('/')}`;
          const validate = ajv.getSchema(reference) ?? ajv.compile({ $ref: reference });
          expect(validate(body) ? null : validate.errors).toBeNull();
        }
      },
    })),
  );
}

/** RFC 6901, in a URI. */
function inPointer(text: string): string {
  return encodeURIComponent(text.replaceAll('~', '~0').replaceAll('/', '~1'));
}
