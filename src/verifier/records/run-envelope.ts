import { utf8Text } from '../../core/bytes.ts';
import { EvidenceError } from '../../core/errors.ts';
import type { ReadableArchive } from '../archive/archive.ts';
import type { RecordFormat } from '../model/record-format.ts';
import { type Envelope, envelopeSchema, type Signature, type Signed, toSigned } from '../signature/envelope.ts';
import { runEnvelopeKey } from './keys.ts';
import { readRecord, toRecordBytes } from './record-bytes.ts';

/** An envelope without its payload, which may have tens of megabytes and is written and read in parts. */
const SHELL: RecordFormat<Envelope> = { schema: envelopeSchema, maxBytes: 64 * 1024 };
const BEFORE_PAYLOAD = '{\n  "payload": "';
const MAX_BYTES = 2 ** 30;

/** Characters of base64 that are decoded at once, and the bytes that they stand for. */
const PART = { text: 4 * 2 ** 13, bytes: 3 * 2 ** 13 };

/** Yields the text of an envelope as `toRecordBytes` would write it. */
export function* envelopePieces({ payload, payloadType }: Signed, signature: Signature): Generator<string> {
  const shell: Envelope = { payload: '', payloadType, signatures: [signature] };
  yield BEFORE_PAYLOAD;
  for (let at = 0; at < payload.length; at += PART.bytes) yield payload.toString('base64', at, at + PART.bytes);
  yield utf8Text(toRecordBytes(shell)).slice(BEFORE_PAYLOAD.length);
}

/** @throws EvidenceError `unreadable` when it is not an envelope as we write them, to the byte; `not-found`. */
export async function readRunEnvelope(
  archive: ReadableArchive,
  runId: string,
): Promise<Signed & { signature: Signature }> {
  const key = runEnvelopeKey(runId);
  return openEnvelope(await archive.readBytes(key, MAX_BYTES), key);
}

/** Takes an envelope apart. @throws EvidenceError as `readRunEnvelope` does. */
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

/** Yields base64 in parts, if it is written in the one way. @throws EvidenceError `unreadable`. */
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
