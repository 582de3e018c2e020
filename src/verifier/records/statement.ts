import { z } from 'zod';
import { utf8Text } from '../../core/bytes.ts';
import { EvidenceError } from '../../core/errors.ts';
import { ARCHIVE_VERSION } from '../../core/formats.ts';
import { type Rows, RowsBuilder } from '../../core/rows/rows.ts';
import type { ReadableArchive } from '../archive/archive.ts';
import { type RecordFormat, sha256Schema } from '../model/schemas.ts';
import { type Envelope, envelopeSchema, type Signature, type Signed, toSigned } from '../signature/envelope.ts';
import { runEnvelopeKey, runRecordKey } from './keys.ts';
import type { RunRecord } from './record.ts';
import { readRecord, recordPieces, toRecordBytes } from './record-bytes.ts';

const PAYLOAD_TYPE = 'application/vnd.in-toto+json';
/** Levels of the statement that are written in pieces: its members, and each of its subjects. */
const LEVELS = 2;
const PREDICATE_TYPE = `urn:evidence-exporter:run:${ARCHIVE_VERSION}`;

/** In-toto Statement v1 (in-toto/attestation, spec/v1/statement.md) as we write it, as far as readers compare it. */
const statementSchema = z.looseObject({
  subject: z.array(z.strictObject({ name: z.string(), digest: z.strictObject({ sha256: sha256Schema }) })),
});
type Subject = z.infer<typeof statementSchema>['subject'][number];

export const STATEMENT: RecordFormat<z.infer<typeof statementSchema>> = { schema: statementSchema, maxBytes: 2 ** 30 };

/**
 * Returns the signed statement about a run: its files with their digests, and its result. The statement follows from
 * the run record alone, byte for byte, so a reader of the record can derive it.
 *
 * @param sha256 of the record, run.json, as stored.
 */
export function toStatement(record: RunRecord, sha256: string): Signed {
  const statement = {
    _type: 'https://in-toto.io/Statement/v1',
    subject: subjectsOf(record, sha256),
    predicateType: PREDICATE_TYPE,
    predicate: {
      run_id: record.run_id,
      outcome: record.outcome,
      exit_code: record.exit_code,
      period: record.period,
      source: record.source,
      tool: record.tool,
      finished_at: record.finished_at,
    },
  };
  let bytes = 0;
  for (const piece of recordPieces(statement, LEVELS)) bytes += Buffer.byteLength(piece);
  return toSigned(PAYLOAD_TYPE, bytes, recordPieces(statement, LEVELS), 'utf8');
}

/**
 * Returns the files of a run that auditors receive, with their digests, sorted by key. Records of streams are left out:
 * the run record has their digests, and the statement, which is signed in memory, is half as large.
 */
function subjectsOf(record: RunRecord, sha256: string): Rows<Subject> {
  const subjects = new RowsBuilder<Subject>();
  const add = (file: { key: string; sha256: string }) =>
    subjects.push({ name: file.key, digest: { sha256: file.sha256 } });
  add({ key: runRecordKey(record.run_id), sha256 });
  for (const { bundle } of record.streams) add(bundle);
  const supplements = [record.supplements?.object ?? []].flat();
  for (const files of [supplements, record.left_over, record.documents]) for (const file of files) add(file);
  return subjects.finishSorted(({ name }) => name);
}

/** Envelope without its payload, which may have tens of megabytes and is written and read in parts. */
const SHELL: RecordFormat<Envelope> = { schema: envelopeSchema, maxBytes: 64 * 1024 };
const BEFORE_PAYLOAD = '{\n  "payload": "';
const MAX_BYTES = 2 ** 30;

/** Number of base64 characters decoded at once, and of the bytes that they encode. */
const PART = { text: 4 * 2 ** 13, bytes: 3 * 2 ** 13 };

/** Yields the text of an envelope as `toRecordBytes` would write it. */
export function* envelopePieces({ payload, payloadType }: Signed, signature: Signature): Generator<string> {
  const shell: Envelope = { payload: '', payloadType, signatures: [signature] };
  yield BEFORE_PAYLOAD;
  for (let at = 0; at < payload.length; at += PART.bytes) yield payload.toString('base64', at, at + PART.bytes);
  yield utf8Text(toRecordBytes(shell)).slice(BEFORE_PAYLOAD.length);
}

/** @throws EvidenceError `unreadable` unless it is an envelope as we write them, to the byte; `not-found`. */
export async function readRunEnvelope(
  archive: ReadableArchive,
  runId: string,
): Promise<Signed & { signature: Signature }> {
  const key = runEnvelopeKey(runId);
  return openEnvelope(await archive.readBytes(key, MAX_BYTES), key);
}

/** Splits an envelope into the signed part and the signature. @throws EvidenceError like `readRunEnvelope`. */
export function openEnvelope(file: Uint8Array, key: string): Signed & { signature: Signature } {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  const start = BEFORE_PAYLOAD.length;
  const end = Math.max(start, bytes.indexOf('"', start));
  const shell = Buffer.concat([bytes.subarray(0, start), bytes.subarray(end)]);
  const envelope = readRecord(SHELL, shell, key);
  if (!shell.equals(toRecordBytes(envelope)))
    throw new EvidenceError('unreadable', `${key} is not written as envelopes are`);
  const text = bytes.subarray(start, end);
  const padding = text.subarray(-2).filter((byte) => byte === 0x3d).length;
  const signed = toSigned(
    envelope.payloadType,
    Math.floor((text.length / 4) * 3) - padding,
    checked(text, key),
    'base64',
  );
  return { ...signed, signature: envelope.signatures[0] };
}

/** Yields base64 in parts, if it is in canonical form. @throws EvidenceError `unreadable`. */
function* checked(text: Buffer, key: string): Generator<string> {
  for (let at = 0; at < text.length; at += PART.text) {
    const part = text.toString('latin1', at, at + PART.text);
    const isLast = at + PART.text >= text.length;
    const isCanonical = isLast ? Buffer.from(part, 'base64').toString('base64') === part : BASE64.test(part);
    if (!isCanonical)
      throw new EvidenceError('unreadable', `${key} is not the record it should be: its payload is not base64`);
    yield part;
  }
}

const BASE64 = /^[A-Za-z0-9+/]+$/;
