import { createHash } from 'node:crypto';
import { hexText, utf8Text } from '../../core/bytes.ts';
import { EvidenceError } from '../../core/errors.ts';
import { cutText } from '../../core/foreign-text.ts';
import type { Run } from '../chain/runs.ts';
import type { SentEntries } from '../model/sent.ts';
import type { ListedEntry } from './packaged.ts';

/**
 * A listing as text: `SEQUENCE,DIGEST` a line, the digest in lower-case hex, in the order of the listing. Behind the end of
 * the package that it is compared with, a line has the entry's time too, by which it is told whether the package should
 * have it; it is empty where the service shows none.
 */
export function lineOf({ sequence, digest, timestamp }: ListedEntry, withTime: boolean): string {
  return withTime ? `${sequence},${digest},${timeOf(timestamp)}\n` : `${sequence},${digest}\n`;
}

/** Times are read leniently, and written as `LINE` reads them. */
function timeOf(timestamp: string): string {
  const isPlain = timestamp.length <= MAX_TIME && PLAIN_TIME.test(timestamp);
  return isPlain ? timestamp : new Date(timestamp).toISOString();
}

const PLAIN_TIME = /^[0-9A-Za-z:.+-]*$/;
const MAX_TIME = 64;

/** The lines of those from `from` on, before `to`. */
export function linesOf(entries: SentEntries, from: number, to: number): string {
  let text = '';
  for (let index = from; index < to; index++) text += `${entries.sequence(index)},${entries.digest(index)}\n`;
  return text;
}

/** SHA-256 of the lines that entries would have in a listing, while they are read. */
export class LineDigest {
  readonly #hash = createHash('sha256');
  entries = 0;
  bytes = 0;

  add(entry: Pick<ListedEntry, 'sequence' | 'digest'>): void {
    this.#push(lineOf({ ...entry, timestamp: '' }, false), 1);
  }

  addSent(entries: SentEntries): void {
    this.#push(linesOf(entries, 0, entries.count), entries.count);
  }

  /** Entries of which nothing is noted. */
  addRun({ batch: { sequences, stated, digestBytes }, from, to }: Run): void {
    const hex = hexText(stated, from * digestBytes, to * digestBytes);
    let text = '';
    for (let index = 0; index < to - from; index++)
      text += `${sequences[from + index]},${hex.slice(2 * index * digestBytes, 2 * (index + 1) * digestBytes)}\n`;
    this.#push(text, to - from);
  }

  /** Call once. */
  finish(): string {
    return this.#hash.digest('hex');
  }

  #push(text: string, entries: number): void {
    this.#hash.update(text);
    this.entries += entries;
    this.bytes += text.length;
  }
}

const LINE = /^(0|[1-9][0-9]{0,15}),((?:[0-9a-f]{2})*)(?:,([0-9A-Za-z:.+-]*))?$/;
/** The longest line, of a SHA-512 and a time, is far shorter. */
const MAX_LINE = 1024;

/** Reads the text of a listing, which may be cut anywhere. */
export class LineReader {
  #rest = '';

  /** @throws EvidenceError `unreadable` for what is no line of a listing. */
  push(block: Uint8Array): ListedEntry[] {
    const lines = (this.#rest + utf8Text(block)).split('\n');
    this.#rest = lines.pop() ?? '';
    if (this.#rest.length > MAX_LINE) throw noLine(this.#rest);
    return lines.map(toEntry);
  }

  /** @throws EvidenceError `unreadable` where the last line has no end. */
  finish(): void {
    if (this.#rest !== '') throw noLine(this.#rest);
  }
}

function toEntry(line: string): ListedEntry {
  const [, sequence, digest, timestamp] = LINE.exec(line) ?? [];
  if (sequence === undefined || digest === undefined || !Number.isSafeInteger(Number(sequence))) throw noLine(line);
  const entry = { sequence: Number(sequence), digest, timestamp: timestamp ?? '' };
  return timestamp === undefined ? { ...entry, isWithin: true } : entry;
}

function noLine(line: string): EvidenceError {
  return new EvidenceError('unreadable', `${JSON.stringify(cutText(line, 100))} is no line of a listing`);
}
