import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import fc from 'fast-check';
import { expect } from 'vitest';
import type { Service } from '../service.ts';

/** The parts of a JSON schema that the documents use. */
interface Schema {
  $ref?: string;
  type?: string;
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  oneOf?: Schema[];
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

/** Texts that often break programs. */
const ODD_TEXTS = [
  ...['', ' ', '.', '..', '\0', 'a\0b', '\ud800', '\u202e', '%00', '%', '../../x', '__proto__', 'constructor'],
  ...["' OR 1=1 --", '"; DROP TABLE entries; --', '\\', '{"a":1}', 'null', '-1', '1e400', 'x'.repeat(5000)],
];
const oddText = fc.oneof(fc.constantFrom(...ODD_TEXTS), fc.string({ unit: 'binary', maxLength: 40 }));
const oddValue = fc.oneof(oddText, fc.jsonValue({ maxDepth: 3 }), fc.constantFrom(-1, 1e308, 2 ** 53, [], {}, null));

/** Rules for drawing: odd values included, or only values that match the document. */
interface Drawing {
  known: KnownIds;
  /** Draws the usual value mostly, and the odd one at times. */
  mostly<T>(usual: fc.Arbitrary<T>, odd: fc.Arbitrary<T>, weight?: number): fc.Arbitrary<T>;
}

const withOdd: Drawing['mostly'] = (usual, odd, weight = 40) =>
  fc.oneof({ arbitrary: usual, weight }, { arbitrary: odd, weight: 1 });
const plain: Drawing['mostly'] = (usual) => usual;

/** Draws values of a schema, and at times odd values. @param name of the parameter or member. */
function drawnFrom(schema: Schema, drawing: Drawing, name = ''): fc.Arbitrary<unknown> {
  const { known: ids, mostly } = drawing;
  if (schema.enum !== undefined) return mostly(fc.constantFrom(...schema.enum), oddValue);
  if (schema.const !== undefined) return mostly(fc.constant(schema.const), oddValue);
  const either = schema.anyOf ?? schema.oneOf;
  if (either !== undefined) return fc.oneof(...either.map((each) => drawnFrom(each, drawing, name)));
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
      return fc.array(drawnFrom(schema.items ?? {}, drawing, name), { maxLength: 5 });
    case 'object':
      return objectOf(schema, drawing);
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

function objectOf({ properties = {}, required = [] }: Schema, drawing: Drawing): fc.Arbitrary<unknown> {
  if (Object.keys(properties).length === 0)
    return fc.dictionary(oddText, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 5 });
  const members = Object.fromEntries(
    Object.entries(properties).map(([name, each]) => [name, drawnFrom(each, drawing, name)]),
  );
  const whole = fc.record(members, { requiredKeys: required });
  return drawing.mostly<unknown>(
    whole,
    fc.oneof(
      fc.record(members, { requiredKeys: [] }),
      whole.map((value) => ({ ...value, more: 1 })),
    ),
  );
}

/** Known ids and other texts, by the name of the parameter or member that takes them. */
export type KnownIds = Readonly<Record<string, readonly string[]>>;

/** Draws requests of an operation. */
function requestsOf(url: string, method: string, operation: Operation, drawing: Drawing): fc.Arbitrary<Drawn> {
  const { known: ids, mostly } = drawing;
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
    Object.fromEntries(given('query').map(({ name, schema }) => [name, drawnFrom(schema, drawing, name)])),
    { requiredKeys: [] },
  );
  const key = fc.option(mostly(fc.constantFrom('k1', 'k2', 'k3'), fc.string({ maxLength: 1100 }), 6));
  const schema = requestBody?.content['application/json']?.schema;
  const body =
    schema === undefined
      ? fc.constant(undefined)
      : mostly<string | undefined>(
          drawnFrom(schema, drawing).map((value) => JSON.stringify(value)),
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

/** Encodes a path segment. URL parsers change some segments, which makes a different request. */
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
  /** Operations that no drawn request can succeed with. */
  inVain: readonly string[];
}

/** Most plain requests drawn first for each operation, until one succeeds. */
const MOST_PLAIN = 100;
/** Operations after which no other request would succeed. */
const NOT_DRAWN = ['retireHost'];

/**
 * Sends requests drawn from a service's documents. No request may fail in the service, and every answer must match the
 * document.
 * @returns the statuses that each operation returned.
 */
export async function sendDrawn(
  service: Service,
  { requests, seed, known, inVain }: DrawnRun,
): Promise<Map<string, Set<number>>> {
  const operations = (
    await Promise.all(
      ['audit', 'traps', 'endpoints', 'agents', 'alerts', 'keys', 'people', 'administration'].map((name) =>
        operationsOf(service, name, known),
      ),
    )
  )
    .flat()
    .filter(({ id }) => !NOT_DRAWN.includes(id));
  const seen = new Map(operations.map(({ id }) => [id, new Set<number>()]));
  const send = async ({ id, judge }: DrawnOperation, { method, path, headers, body }: Drawn) => {
    const answer = await service.call(method, path, body, headers);
    judge(answer.status, answer.headers.get('content-type') ?? '', answer.body);
    seen.get(id)?.add(answer.status);
  };
  // Plain requests come first, because later requests may revoke the records that they need.
  for (const operation of operations.filter(({ id }) => !inVain.includes(id)))
    for (const request of fc.sample(operation.plain, { numRuns: MOST_PLAIN, seed })) {
      if ([...(seen.get(operation.id) ?? [])].some((status) => status < 300)) break;
      await send(operation, request);
    }
  const drawn = fc.oneof(
    ...operations.map((operation) => operation.withOdd.map((request) => ({ operation, request }))),
  );
  await fc.assert(
    fc.asyncProperty(drawn, ({ operation, request }) => send(operation, request)),
    { numRuns: requests, seed },
  );
  return seen;
}

interface DrawnOperation {
  id: string;
  withOdd: fc.Arbitrary<Drawn>;
  plain: fc.Arbitrary<Drawn>;
  judge(status: number, type: string, body: unknown): void;
}

async function operationsOf(service: Service, name: string, known: KnownIds): Promise<DrawnOperation[]> {
  const document: Document = (await service.call('GET', `//${name}/openapi.json`)).body;
  const ajv = new Ajv2020({ strict: false, allErrors: false });
  addFormats.default(ajv);
  ajv.addSchema(document, name);
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      id: operation.operationId,
      withOdd: requestsOf(`${document.servers[0].url}${path}`, method, operation, { known, mostly: withOdd }),
      plain: requestsOf(`${document.servers[0].url}${path}`, method, operation, { known, mostly: plain }),
      judge(status, type, body) {
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

/** Escapes a JSON pointer (RFC 6901) for a URI. */
function inPointer(text: string): string {
  return encodeURIComponent(text.replaceAll('~', '~0').replaceAll('/', '~1'));
}
