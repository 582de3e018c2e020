import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { StreamingSha256 } from '../../core/digest.ts';
import type { Reader } from '../database/database.ts';
import { hangUpOf } from '../http/caller.ts';
import { isKnown, sendKnown } from '../http/etag.ts';
import type { PageQuery } from '../http/fields.ts';
import { sortedPage } from '../http/newest-first.ts';
import type { PackageRow } from './packing.ts';
import type { AuditService } from './service.ts';
import { findStream } from './streams.ts';
import type { AuditTables } from './tables.ts';
import type { WireGenerated } from './wire.ts';

/** Returns the packages of a stream, newest first. @throws DomainError `not_found` if the stream does not exist. */
export async function listPackages(
  reader: Reader,
  streamId: string,
  query: PageQuery,
): Promise<{ data: WireGenerated[]; next_cursor: string | null }> {
  const { stream_no } = await findStream(reader, streamId);
  const packages = reader.tables<AuditTables>().selectFrom('packages').where('stream_no', '=', stream_no);
  const rows = packages.select(['package_id', 'entry_count', 'created_at']);
  const by = { created_at: 'string', package_id: 'string' } as const;
  const { page, next_cursor } = await sortedPage(rows, { list: 'packages', by, direction: 'desc' }, query);
  return { data: page.map((row) => ({ ...row, status: 'ready' as const, stream_id: streamId })), next_cursor };
}

/** Forms in which a package can be downloaded. */
export const PACKAGE_FORMS = ['json', 'summary', 'pdf'] as const;
type PackageForm = (typeof PACKAGE_FORMS)[number];

/** Limit on the data read ahead of a slow client. */
const BYTES = { objectMode: false, highWaterMark: 2 ** 18 };

/**
 * Sends a package in the form that was fixed when it was generated. @throws DomainError `not_found`, `package_damaged`.
 */
export async function sendPackage(
  service: AuditService,
  packageId: string,
  form: PackageForm,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { evidence } = service;
  const row = await evidence.find(packageId);
  const offer = (ending: string, type: string) =>
    reply.header('content-disposition', `attachment; filename="evidence-${row.package_id}${ending}"`).type(type);
  switch (form) {
    case 'json':
      return sendJson(service, row, offer('.json', 'application/json'));
    case 'summary':
      offer('-summary.json', 'application/json');
      return reply.send(row.summary);
    case 'pdf': {
      const pdf = await evidence.pdf(row, hangUpOf(reply));
      offer('.pdf', 'application/pdf');
      return reply.send(Buffer.from(pdf.buffer, pdf.byteOffset, pdf.byteLength));
    }
  }
}

/**
 * Sends the JSON form. Its ETag is the digest of the first complete download, so that a client with those bytes need
 * not load them again. There is no Content-Length: if an entry has since been changed in the database, the length
 * differs, and the client must still receive the present bytes and judge them.
 */
async function sendJson(
  { evidence, readers }: AuditService,
  row: PackageRow,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const known = await evidence.jsonDigest(row);
  if (known !== null && isKnown(reply, known)) return sendKnown(reply);
  const pieces = readers.json(row, hangUpOf(reply));
  const keep = (sha256: string) => evidence.keepJsonDigest(row, sha256);
  return reply.send(Readable.from(known === null ? digested(pieces, keep) : pieces, BYTES));
}

async function* digested(
  pieces: AsyncGenerator<Uint8Array>,
  keep: (sha256: string) => Promise<void>,
): AsyncGenerator<Uint8Array> {
  const digest = new StreamingSha256();
  yield* digest.through(pieces);
  // A failure to store the digest is harmless: the next complete download stores it.
  await keep(digest.finish().sha256).catch(() => undefined);
}
