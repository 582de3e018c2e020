/** The headers of a request, by names in lower case; of several that have one name, the first. */
export type Headers = ReadonlyMap<string, string>;

/** A parsed header line: a header, the end, a line to skip, or one that makes nginx refuse the request. */
export type HeaderLine = { name: string; value: string } | 'end' | 'ignored' | 'refused';

const REFUSED_NAME = /^$|[\0- \x7f]/;
const KNOWN_NAME = /^[A-Za-z0-9-]+$/;

/** Bytes that begin neither a header nor the end of headers: nginx does not wait for the end of such a line. */
export const NO_BEGINNING = /^(?:\r[^\n]|[\0\t\v\f :\x7f])/;

/** Reads a line as nginx does. @param line of bytes as characters, without its line feed. */
export function readHeaderLine(line: string): HeaderLine {
  if (line === '' || line === '\r') return 'end';
  const text = line.replace(/\r+$/, '');
  const colon = text.indexOf(':');
  const name = colon < 0 ? text : text.slice(0, colon);
  const value = colon < 0 ? '' : text.slice(colon + 1);
  if (REFUSED_NAME.test(name) || /[\0\r]/.test(value)) return 'refused';
  return KNOWN_NAME.test(name) ? { name: name.toLowerCase(), value: value.replace(/^ +| +$/g, '') } : 'ignored';
}

/** The length and end of a body, or the status that refuses a request without valid ones. */
export type Framing = { length: number } | 'chunked' | { refused: 400 | 501 };

export function framingOf(headers: Headers, version: string): Framing {
  const [length, coding] = [headers.get('content-length'), headers.get('transfer-encoding')];
  if (length !== undefined && !/^\d{1,18}$/.test(length)) return { refused: 400 };
  if (coding === undefined) return { length: Number(length ?? 0) };
  if (version !== '1.1') return { refused: 400 };
  if (coding.toLowerCase() !== 'chunked') return { refused: 501 };
  return length === undefined ? 'chunked' : { refused: 400 };
}

const HOST = /^(?:\[[^\]/]*\]|[^[/:][^/:]*)(?::[^/]*)?$/;

/** True if nginx accepts a value of Host. */
export function isHost(value: string): boolean {
  return value !== '' && HOST.test(value) && !/\.\.|[\0- \x7f]|^\.?(?::|$)/.test(value);
}
