import type { HttpVersion } from './request-line.ts';

/** Statuses with an nginx page; 494 and 497 are nginx's numbers for two kinds of 400. */
export type PageStatus = 400 | 404 | 405 | 413 | 414 | 494 | 497 | 501 | 505;

/** Request as nginx passes it on. */
export interface WebRequest {
  method: string;
  /** Target as sent. */
  target: string;
  /** Decoded path without `.`, `..` or empty segments. */
  path: string;
  query: string;
  version: HttpVersion;
  headers: Headers;
  /** Request line and headers as received. */
  head: Buffer;
  /** Body, or at least its start. */
  body: Buffer;
  keepsAlive: boolean;
  /** Status of the refusal, which does not depend on the path; null if the request is valid. */
  refused: PageStatus | null;
}

/** Headers of a request by lower-case name; of repeated headers, the first. */
export type Headers = ReadonlyMap<string, string>;

/** Parsed header line: a header, the end, a line to skip, or one that makes nginx refuse the request. */
type HeaderLine = { name: string; value: string } | 'end' | 'ignored' | 'refused';

const REFUSED_NAME = /^$|[\0- \x7f]/;
const KNOWN_NAME = /^[A-Za-z0-9-]+$/;

/** Bytes that start neither a header nor the end of headers; nginx does not wait for the end of such a line. */
export const NO_BEGINNING = /^(?:\r[^\n]|[\0\t\v\f :\x7f])/;

/** Reads a line as nginx does. @param line with one character per byte, without its line feed. */
export function readHeaderLine(line: string): HeaderLine {
  if (line === '' || line === '\r') return 'end';
  const text = line.replace(/\r+$/, '');
  const colon = text.indexOf(':');
  const name = colon < 0 ? text : text.slice(0, colon);
  const value = colon < 0 ? '' : text.slice(colon + 1);
  if (REFUSED_NAME.test(name) || /[\0\r]/.test(value)) return 'refused';
  return KNOWN_NAME.test(name) ? { name: name.toLowerCase(), value: value.replace(/^ +| +$/g, '') } : 'ignored';
}

/** Length or coding of a body, or the status that refuses the request. */
type Framing = { length: number } | 'chunked' | { refused: 400 | 501 };

export function framingOf(headers: Headers, version: string): Framing {
  const [length, coding] = [headers.get('content-length'), headers.get('transfer-encoding')];
  if (length !== undefined && !/^\d{1,18}$/.test(length)) return { refused: 400 };
  if (coding === undefined) return { length: Number(length ?? 0) };
  if (version !== '1.1') return { refused: 400 };
  if (coding.toLowerCase() !== 'chunked') return { refused: 501 };
  return length === undefined ? 'chunked' : { refused: 400 };
}

const HOST = /^(?:\[[^\]/]*\]|[^[/:][^/:]*)(?::[^/]*)?$/;

/** Reports whether nginx accepts a value of Host. */
export function isHost(value: string): boolean {
  return value !== '' && HOST.test(value) && !/\.\.|[\0- \x7f]|^\.?(?::|$)/.test(value);
}

/** Number of bytes used and whether the body has ended, or a refusal. */
type ChunkReading = { used: number; isOver: boolean } | 'refused';

const LONGEST_LINE = 4096;

/** Chunked body (RFC 9112 section 7.1), of which the start is kept. */
export class ChunkedBody {
  #state: 'size' | 'data' | 'after' | 'trailer' = 'size';
  #left = 0;
  #total = 0;

  get total(): number {
    return this.#total;
  }

  /** Consumes the complete parts. @param keep receives the bytes of the body. */
  read(bytes: Buffer, keep: (part: Buffer) => void): ChunkReading {
    let used = 0;
    for (;;) {
      const rest = bytes.subarray(used);
      if (this.#state === 'data') {
        const part = rest.subarray(0, this.#left);
        keep(part);
        used += part.length;
        this.#left -= part.length;
        this.#total += part.length;
        if (this.#left > 0) return { used, isOver: false };
        this.#state = 'after';
        continue;
      }
      const end = rest.indexOf(0x0a);
      if (end < 0) return rest.length > LONGEST_LINE ? 'refused' : { used, isOver: false };
      const line = rest.subarray(0, end).toString('latin1').replace(/\r$/, '');
      used += end + 1;
      if (this.#state === 'trailer' && line === '') return { used, isOver: true };
      if (this.#state !== 'trailer' && !this.#take(line)) return 'refused';
    }
  }

  /**
   * Reads a line that is not a trailer: the empty line after a chunk, or the size of the next chunk. Returns false if
   * it is invalid.
   */
  #take(line: string): boolean {
    if (this.#state === 'after') {
      this.#state = 'size';
      return line === '';
    }
    const [, size] = /^([0-9A-Fa-f]{1,8})[ \t]*(?:;.*)?$/.exec(line) ?? [];
    if (size === undefined) return false;
    this.#left = Number.parseInt(size, 16);
    this.#state = this.#left === 0 ? 'trailer' : 'data';
    return true;
  }
}
