import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { DomainError } from '../../errors.ts';
import { hangUpOf } from '../../http/caller.ts';
import { keyHeaderSchema } from '../../http/fields.ts';
import { actorOf, ownKey, type Principal, principalOf, refuseBeyond } from '../../http/principal.ts';
import { problemResponses } from '../../http/responses.ts';
import { pageSchema } from '../../http/wire.ts';
import type { Appended, AppendRequest } from '../append.ts';
import { listEntries } from '../list.ts';
import { type CheckedEntry, checkMetadata } from '../metadata.ts';
import { entryToJson } from '../rules.ts';
import type { AuditService } from '../service.ts';
import { batchSchema, type EntriesQuery, entriesQuerySchema, entrySchema, newEntrySchema } from '../wire.ts';

/** Maximum limit of a list that this thread reads itself. */
const SHORT = 100;

/** Maximum bytes of a batch: room for all its entries of 8 KiB each. */
const BATCH_BYTES = 2 ** 23;

const JSON_TYPE = 'application/json; charset=utf-8';

const batchAnswerSchema = z.object({
  data: z.array(entrySchema),
  created: z.int().min(0),
  repeated: z.int().min(0),
});

/**
 * Answers with text made from the columns: serializing entries by schema costs more than recording them, and zod drops
 * a metadata member named `__proto__`.
 */
// Over 40 lines: it is a list of routes.
export const entryRoutes: FastifyPluginAsyncZod<{ service: AuditService }> = async (server, { service }) => {
  server.post(
    '/entries/',
    {
      config: { scope: 'audit:write' },
      schema: {
        operationId: 'appendEntry',
        tags: ['entries'],
        summary: 'Append an entry to its stream',
        headers: keyHeaderSchema,
        body: newEntrySchema,
        response: { 201: entrySchema, 200: entrySchema, ...problemResponses(403, 409, 422) },
      },
    },
    async (request, reply) => {
      const { body, bodyShape, headers } = request;
      const key = oneKey(headers['idempotency-key'], body.idempotency_key);
      const entry = key === undefined ? body : { ...body, idempotency_key: key };
      const entries = checkMetadata([entry], bodyShape, () => 'body');
      const [appended] = await service.appender.append(fromCaller(principalOf(request), entries));
      if (appended === undefined) throw new Error('an entry was neither appended nor found');
      return reply
        .code(appended.repeated ? 200 : 201)
        .type(JSON_TYPE)
        .send(asSent(entryToJson(appended.row)));
    },
  );

  server.post(
    '/entries/batch',
    {
      bodyLimit: BATCH_BYTES,
      config: { scope: 'audit:write' },
      schema: {
        operationId: 'appendEntries',
        tags: ['entries'],
        summary: 'Append entries, all or none, in order',
        headers: keyHeaderSchema,
        body: batchSchema,
        response: { 201: batchAnswerSchema, ...problemResponses(409, 413, 422) },
      },
    },
    async (request, reply) => {
      const { body, bodyShape, headers } = request;
      const entries = checkMetadata(body.entries, bodyShape, (at) => `body.entries.${at}`);
      const asked = fromCaller(principalOf(request), entries, headers['idempotency-key']);
      const appended = await service.appender.append(asked);
      return reply
        .code(201)
        .type(JSON_TYPE)
        .send(asSent(batchToJson(appended)));
    },
  );

  server.get(
    '/entries/',
    {
      config: { scope: 'audit:read' },
      schema: {
        operationId: 'listEntries',
        tags: ['entries'],
        summary: 'List or search entries, in the order in which they were recorded or newest first',
        querystring: entriesQuerySchema,
        response: { 200: pageSchema(entrySchema), ...problemResponses(422) },
      },
    },
    async ({ query }, reply) => {
      const signal = hangUpOf(reply);
      const page = isShort(query)
        ? await listEntries(service.database, query, signal)
        : await service.readers.read('entries', query, signal);
      return reply.type(JSON_TYPE).send(page as never);
    },
  );
};

/** Returns a request with idempotency keys that belong to its caller. @throws DomainError `forbidden`. */
function fromCaller(principal: Principal, entries: readonly CheckedEntry[], key?: string): AppendRequest {
  for (const entry of entries) refuseBeyond(principal, entry);
  return {
    entries: entries.map((entry) => ({ ...entry, idempotency_key: ownKey(principal, entry.idempotency_key) })),
    key: ownKey(principal, key),
    recordedBy: actorOf(principal).name,
  };
}

/** Reports whether reading a list here is faster than handing it to a thread. */
function isShort({
  limit,
  cursor: _,
  stream_id: _stream,
  after_sequence: _after,
  order: _order,
  ...filters
}: EntriesQuery): boolean {
  return limit <= SHORT && Object.values(filters).every((filter) => filter === undefined);
}

/** Satisfies the type provider, which knows only the schema's object; Fastify sends text unchanged. */
function asSent(text: string): never {
  return text as never;
}

function oneKey(header: string | undefined, member: string | undefined): string | undefined {
  if (header !== undefined && member !== undefined && header !== member)
    throw new DomainError('invalid_request', 'the header Idempotency-Key and body.idempotency_key are different');
  return member ?? header;
}

function batchToJson(appended: readonly Appended[]): string {
  const repeated = appended.filter((entry) => entry.repeated).length;
  const data = appended.map(({ row }) => entryToJson(row)).join(',');
  return `{"data":[${data}],"created":${appended.length - repeated},"repeated":${repeated}}`;
}
