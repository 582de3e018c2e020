import { z } from 'zod';
import { utf8Bytes } from '../../core/bytes.ts';
import { EvidenceError, isEvidenceError } from '../../core/errors.ts';
import { cutText } from '../../core/foreign-text.ts';
import { otherVersionOf } from '../../core/formats.ts';
import type { Json } from '../../core/json/canonical.ts';
import { type ExactJson, type ExactOptions, parseExactJson } from '../../core/json/exact.ts';
import { indentedJson } from '../../core/json/indented.ts';
import type { RecordFormat } from '../model/schemas.ts';

/**
 * Returns the bytes of a record to be stored, after its own reader has read them. Objects are never overwritten, so a
 * record that cannot be read again would damage the archive for good.
 *
 * @param key of the record, for the error.
 * @throws EvidenceError `unreadable`; nothing is stored then.
 */
export function toReadableBytes<T>(format: RecordFormat<T>, record: unknown, key: string): Uint8Array {
  const bytes = toRecordBytes(record);
  try {
    readRecord(format, bytes, key);
  } catch (error) {
    if (!isEvidenceError(error)) throw error;
    const why = cutText(error.message, MAX_REASON);
    throw new EvidenceError('unreadable', `${key} was not stored, because it could not be read again: ${why}`, {
      nextStep: 'What was archived before stays. Ask the operator of the service about what it sent.',
    });
  }
  return bytes;
}

const MAX_REASON = 500;

/** Returns the bytes of a record: indented JSON, identical for identical records. */
export function toRecordBytes(record: unknown): Uint8Array {
  return utf8Bytes(`${JSON.stringify(record, null, 2)}\n`);
}

/** Levels of a run record that are written in pieces: its members, and each row of a list in one of them. */
const LEVELS = 3;

/**
 * Yields the text of `toRecordBytes` in pieces, for a record of many megabytes.
 * @param levels see `indentedJson`; a list may be any iterable.
 */
export function* recordPieces(record: object, levels = LEVELS): Generator<string> {
  yield* indentedJson(record, levels);
  yield '\n';
}

/**
 * Reads a record that this program wrote.
 * @throws EvidenceError `unreadable` with the object and the first fault in it.
 */
export function readRecord<T>({ schema, maxBytes }: RecordFormat<T>, bytes: Uint8Array, key: string): T {
  if (bytes.length > maxBytes) throw new EvidenceError('unreadable', `${key} has more than ${maxBytes} bytes`);
  return toRecord(schema, parseRecord(bytes, key), key);
}

/** Converts a JSON value into a record. @throws EvidenceError like `readRecord`. */
export function toRecord<T>(schema: z.ZodType<T>, value: Json, key: string): T {
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  const other = otherVersionOf(value);
  if (other !== null)
    throw new EvidenceError('unreadable', `${key} is of the format ${other}, which this version does not read`);
  throw new EvidenceError('unreadable', `${key} is not the record it should be: ${whatIsWrong(read.error)}`);
}

/** Describes all faults in one line. */
function whatIsWrong(error: z.ZodError): string {
  return z
    .prettifyError(error)
    .replaceAll('\n', ';')
    .replaceAll(/;\s+→ /g, ' ')
    .replaceAll(';', '; ');
}

/** Returns the JSON of a record before its schema is checked. @throws EvidenceError like `readRecord`. */
export function parseRecord(bytes: Uint8Array, key: string, options?: ExactOptions): Json {
  const { value, ambiguity, inexact } = parse(bytes, key, options);
  if (inexact !== null)
    throw new EvidenceError('unreadable', `${key} holds a number that changes when it is read: ${inexact}`);
  if (ambiguity !== null) throw new EvidenceError('unreadable', `${key} is ambiguous: ${ambiguity}`);
  return value;
}

function parse(bytes: Uint8Array, key: string, options?: ExactOptions): ExactJson {
  try {
    return parseExactJson(bytes, options);
  } catch (error) {
    throw new EvidenceError('unreadable', `${key} is ${error instanceof Error ? error.message : 'unreadable'}`);
  }
}
