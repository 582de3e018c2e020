import { type HttpVersion, readRequestLine, readTarget } from './request-line.ts';
import {
  ChunkedBody,
  framingOf,
  type Headers,
  isHost,
  NO_BEGINNING,
  type PageStatus,
  readHeaderLine,
  type WebRequest,
} from './web-request.ts';

const LONGEST_LINE = 8192;
const FIRST_BUFFER = 1024;
const MOST_BUFFERS = 4;
/** Maximum body, as nginx's default `client_max_body_size`. */
const LONGEST_BODY = 1024 * 1024;
const KEPT_BODY = 16 * 1024;

type Line = { method: string; target: string; version: HttpVersion; path: string; query: string };
type Body = { left: number } | ChunkedBody;

/** Extracts requests from the bytes of a connection, with the rules, limits and refusals of nginx. */
export class RequestReader {
  #bytes: Buffer = Buffer.alloc(0);
  #scanned = 0;
  #line: Line | null = null;
  #headers = new Map<string, string>();
  #head: Buffer[] = [];
  /** State of nginx's header buffers: free bytes in the last one, and the number of large ones. */
  #room = { free: FIRST_BUFFER, large: 0 };
  #request: WebRequest | null = null;
  #body: Body = { left: 0 };
  #kept: Buffer[] = [];
  /** True once the client was sent 100 Continue or an answer. */
  #isTold = false;
  readonly #waits: (path: string) => boolean;
  /** True after a refusal that ends the connection. */
  isOver = false;

  /** @param waits reports whether the body of a request for a path is awaited. */
  constructor(waits: (path: string) => boolean) {
    this.#waits = waits;
  }

  push(bytes: Buffer): void {
    if (!this.isOver) this.#bytes = this.#bytes.length === 0 ? bytes : Buffer.concat([this.#bytes, bytes]);
  }

  /** Returns the next request, which may be refused; null while bytes are missing. */
  next(): WebRequest | null {
    if (this.isOver) return null;
    if (this.#line === null) {
      const refused = this.#readLine();
      if (refused !== null) return refused;
    }
    if (this.#line === null) return null;
    if (this.#request === null) this.#request = this.#readHeaders(this.#line);
    if (this.#request === null) return null;
    if (this.#request.refused !== null) return this.#end(this.#request);
    return this.#waits(this.#request.path) ? this.#readBody(this.#request) : this.#passOver(this.#request);
  }

  /**
   * Returns true once per request if the client waits for 100 Continue (RFC 9110 section 10.1.1) before it sends the
   * body.
   */
  wantsContinue(): boolean {
    const request = this.#request;
    if (request === null || this.#isTold || !this.#waits(request.path)) return false;
    this.#isTold = request.version === '1.1' && request.headers.get('expect')?.toLowerCase() === '100-continue';
    return this.#isTold;
  }

  /** Skips the body of a request that is not passed on; such a request is answered before its body arrives. */
  #passOver(request: WebRequest): WebRequest | null {
    const wasAnswered = this.#isTold;
    this.#isTold = true;
    const whole = this.#readBody(request);
    if (whole?.refused === null && wasAnswered) return this.next();
    if (wasAnswered) return null;
    return whole === null ? request : { ...whole, refused: null };
  }

  #readLine(): WebRequest | null {
    const line = readRequestLine(this.#bytes.subarray(0, LONGEST_LINE));
    if (line === null) return this.#bytes.length < LONGEST_LINE ? null : this.#refuse(414);
    if ('refused' in line) return this.#refuse(line.refused, line);
    const target = readTarget(line.target);
    if (target === null) return this.#refuse(400, { ...line, version: '1.0' });
    const { method, version, end } = line;
    this.#line = { method, version, target: line.target, ...target };
    this.#take(end);
    this.#fits(end);
    return null;
  }

  #readHeaders(line: Line): WebRequest | null {
    while (line.version !== '0.9') {
      const end = this.#bytes.indexOf(0x0a, this.#scanned);
      const length = end < 0 ? this.#bytes.length : end + 1;
      if (length > LONGEST_LINE || (end >= 0 && !this.#fits(length))) return this.#refuse(494);
      this.#scanned = end < 0 ? length : 0;
      if (end < 0) return NO_BEGINNING.test(this.#bytes.toString('latin1', 0, 2)) ? this.#refuse(400) : null;
      const header = readHeaderLine(this.#take(length).subarray(0, -1).toString('latin1'));
      if (header === 'end') break;
      if (header === 'refused') return this.#refuse(400);
      if (header !== 'ignored' && !this.#add(header)) return this.#refuse(400);
    }
    return this.#begin(line);
  }

  /** Adds a header. Returns false for an invalid Host, and for a repeated header that nginx accepts only once. */
  #add({ name, value }: { name: string; value: string }): boolean {
    const isTwice = this.#headers.has(name);
    if (!isTwice) this.#headers.set(name, value);
    if (name === 'host') return !isTwice && isHost(value);
    return !isTwice || (name !== 'content-length' && name !== 'transfer-encoding');
  }

  #begin(line: Line): WebRequest {
    const { method, version } = line;
    const headers = this.#headers;
    const framing = framingOf(headers, version);
    const request = {
      ...line,
      headers,
      head: Buffer.concat(this.#head),
      body: Buffer.alloc(0),
      refused: null,
      keepsAlive: keepsAlive(headers, version),
    };
    if (version === '1.1' && !headers.has('host')) return { ...request, refused: 400 };
    if (typeof framing === 'object' && 'refused' in framing) return { ...request, refused: framing.refused };
    this.#body = framing === 'chunked' ? new ChunkedBody() : { left: framing.length };
    if (method === 'TRACE' || method === 'CONNECT') return { ...request, refused: 405 };
    return framing !== 'chunked' && framing.length > LONGEST_BODY ? { ...request, refused: 413 } : request;
  }

  #readBody(request: WebRequest): WebRequest | null {
    const body = this.#body;
    if (body instanceof ChunkedBody) {
      const read = body.read(this.#bytes, (part) => this.#keep(part));
      if (read === 'refused') return this.#end({ ...request, refused: 400 });
      this.#bytes = this.#bytes.subarray(read.used);
      if (body.total > LONGEST_BODY) return this.#end({ ...request, refused: 413 });
      if (!read.isOver) return null;
    } else {
      const part = this.#bytes.subarray(0, body.left);
      this.#keep(part);
      this.#bytes = this.#bytes.subarray(part.length);
      body.left -= part.length;
      if (body.left > 0) return null;
    }
    return this.#whole(request);
  }

  #whole(request: WebRequest): WebRequest {
    const whole = { ...request, body: Buffer.concat(this.#kept) };
    this.#line = null;
    this.#request = null;
    this.#isTold = false;
    this.#headers = new Map();
    this.#head = [];
    this.#kept = [];
    this.#room = { free: FIRST_BUFFER, large: 0 };
    return whole;
  }

  #keep(part: Buffer): void {
    const kept = this.#kept.reduce((sum, each) => sum + each.length, 0);
    if (kept < KEPT_BODY && part.length > 0) this.#kept.push(Buffer.from(part.subarray(0, KEPT_BODY - kept)));
  }

  #take(length: number): Buffer {
    const taken = this.#bytes.subarray(0, length);
    this.#head.push(taken);
    this.#bytes = this.#bytes.subarray(length);
    return taken;
  }

  /**
   * Reports whether a line fits in nginx's buffers, which hold lines whole: one buffer of 1 KiB, then four of 8 KiB.
   */
  #fits(length: number): boolean {
    if (length > this.#room.free) this.#room = { free: LONGEST_LINE, large: this.#room.large + 1 };
    this.#room.free -= length;
    return this.#room.large <= MOST_BUFFERS;
  }

  #refuse(status: PageStatus, known: Pick<Line, 'method' | 'version'> = { method: '', version: '1.0' }): WebRequest {
    const head = Buffer.concat([...this.#head, this.#bytes.subarray(0, LONGEST_LINE)]);
    const line = this.#line ?? { target: '', path: '', query: '', ...known };
    const headers = this.#headers;
    return this.#end({ ...line, headers, head, body: Buffer.alloc(0), keepsAlive: false, refused: status });
  }

  #end(request: WebRequest): WebRequest {
    this.isOver = true;
    this.#bytes = Buffer.alloc(0);
    return { ...request, body: Buffer.concat(this.#kept), keepsAlive: false };
  }
}

function keepsAlive(headers: Headers, version: HttpVersion): boolean {
  const asked = headers.get('connection')?.toLowerCase() ?? '';
  if (asked.includes('close')) return false;
  return version === '1.1' || (version === '1.0' && asked.includes('keep-alive'));
}
