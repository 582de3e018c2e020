import { StreamingSha256 } from '../../core/digest.ts';
import { EvidenceError } from '../../core/errors.ts';
import type { LongFormat } from '../model/schemas.ts';
import { parseRecord, toRecord } from './record-bytes.ts';
import { RowCutter } from './row-cutter.ts';

/** Maximum size of a record that is parsed as a whole. */
const WHOLE_BYTES = 8 * 2 ** 20;
const MAX_LINE = 8 * 2 ** 20;

/** Record, with the digest and the length of its bytes. */
interface ReadLong<T> {
  record: T;
  /** Lower-case hex. */
  sha256: string;
  bytes: number;
}

/**
 * Reads a record whose members may be too long for memory, in memory bounded by its largest row. A record of more than
 * 8 MB must have the layout of `recordPieces`.
 *
 * @param key of the record, for errors.
 * @throws EvidenceError `unreadable` with the object and the first fault in it.
 */
export async function readLongRecord<T>(
  format: LongFormat<T>,
  chunks: AsyncIterable<Uint8Array>,
  key: string,
  wholeBytes = WHOLE_BYTES,
): Promise<ReadLong<T>> {
  const { schema, maxBytes, long } = format;
  const digest = new StreamingSha256();
  const held: Uint8Array[] = [];
  let bytes = 0;
  let cutter: CutText | null = null;
  for await (const chunk of digest.through(chunks)) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new EvidenceError('unreadable', `${key} has more than ${maxBytes} bytes`);
    held.push(chunk);
    if (bytes <= wholeBytes) continue;
    cutter ??= new CutText(new RowCutter(long, key), key);
    for (const one of held.splice(0)) cutter.push(one);
  }
  const { sha256 } = digest.finish();
  if (cutter === null) {
    const value = parseRecord(Buffer.concat(held), key, { spendsBytes: true });
    return { record: toRecord(schema, value, key), sha256, bytes };
  }
  const rows = cutter.finish();
  const record = toRecord(schema, rows.finish(), key);
  rows.attachTo(record as object);
  return { record, sha256, bytes };
}

/** Cuts UTF-8 into lines. */
class CutText {
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  readonly #cutter: RowCutter;
  readonly #key: string;
  #line = '';

  constructor(cutter: RowCutter, key: string) {
    this.#cutter = cutter;
    this.#key = key;
  }

  push(chunk: Uint8Array): void {
    const lines = `${this.#line}${this.#decode(chunk)}`.split('\n');
    this.#line = lines.pop() ?? '';
    for (const line of lines) this.#cutter.take(line);
    if (this.#line.length > MAX_LINE)
      throw new EvidenceError('unreadable', `${this.#key} has a line of more than ${MAX_LINE} characters`);
  }

  finish(): RowCutter {
    const end = `${this.#line}${this.#decode()}`;
    if (end !== '') this.#cutter.take(end);
    return this.#cutter;
  }

  #decode(chunk?: Uint8Array): string {
    try {
      return chunk === undefined ? this.#decoder.decode() : this.#decoder.decode(chunk, { stream: true });
    } catch {
      throw new EvidenceError('unreadable', `${this.#key} is ambiguous: the text is not valid UTF-8`);
    }
  }
}
