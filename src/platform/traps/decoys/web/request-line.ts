/** State of a request line once it is complete, or once it is certainly invalid. */
type LineReading =
  | { end: number; method: string; target: string; version: HttpVersion }
  | { refused: 400 | 505; method: string; version: HttpVersion };

/** Version of HTTP. HTTP/0.9 has no headers, and HTTP/1.0 no persistent connections. */
export type HttpVersion = '0.9' | '1.0' | '1.1';

const TARGET = 'target';
const DONE = 'done';

/**
 * Transitions of nginx's state machine for a request line: state, bytes, next state. Bytes without a row are refused at
 * once, without waiting for the end of the line; no other parser here is lenient in the same places.
 */
const STEPS: readonly (readonly [state: string, bytes: RegExp, next: string])[] = [
  ['start', /[\r\n]/, 'start'],
  ['start', /[A-Z_-]/, 'method'],
  ['method', /[A-Z_-]/, 'method'],
  ['method', / /, 'before target'],
  ['before target', / /, 'before target'],
  ['before target', /\//, TARGET],
  ['before target', /[A-Za-z]/, 'scheme'],
  ['scheme', /[A-Za-z0-9+.-]/, 'scheme'],
  ['scheme', /:/, 'first slash'],
  ['first slash', /\//, 'second slash'],
  ['second slash', /\//, 'host begins'],
  ['host begins', /\[/, 'address'],
  ['host begins', /[A-Za-z0-9.-]/, 'host'],
  ['host begins', /:/, 'port'],
  ['host begins', /[/?]/, TARGET],
  ['host begins', / /, 'after target'],
  ['host', /[A-Za-z0-9.-]/, 'host'],
  ['host', /:/, 'port'],
  ['host', /[/?]/, TARGET],
  ['host', / /, 'after target'],
  ['address', /[A-Za-z0-9:._~!$&'()*+,;=-]/, 'address'],
  ['address', /\]/, 'host end'],
  ['host end', /:/, 'port'],
  ['host end', /[/?]/, TARGET],
  ['host end', / /, 'after target'],
  ['port', /[0-9]/, 'port'],
  ['port', /[/?]/, TARGET],
  ['port', / /, 'after target'],
  [TARGET, /[!-~\x80-\xff]/, TARGET],
  [TARGET, / /, 'after target'],
  [TARGET, /\r/, 'last'],
  [TARGET, /\n/, DONE],
  ['after target', / /, 'after target'],
  ['after target', /\r/, 'last'],
  ['after target', /\n/, DONE],
  ['after target', /H/, 'H'],
  ['H', /T/, 'HT'],
  ['HT', /T/, 'HTT'],
  ['HTT', /P/, 'HTTP'],
  ['HTTP', /\//, 'major'],
  ['major', /1/, 'dot'],
  ['major', /[2-9]/, 'other version'],
  ['dot', /\./, 'minor'],
  ['dot', /[0-9]/, 'other version'],
  ['minor', /[0-9]/, 'second minor'],
  ['second minor', /[0-9]/, 'third minor'],
  ['second minor', / /, 'trailing'],
  ['second minor', /\r/, 'last'],
  ['second minor', /\n/, DONE],
  ['third minor', /[0-9 ]/, 'trailing'],
  ['third minor', /\r/, 'last'],
  ['third minor', /\n/, DONE],
  ['trailing', / /, 'trailing'],
  ['trailing', /\r/, 'last'],
  ['trailing', /\n/, DONE],
  ['last', /\n/, DONE],
];
const STATES = [...new Set(STEPS.flatMap(([state, , next]) => [state, next]))];
/** Next state by state and byte; -1 if there is none. */
const NEXT = STATES.map((state) => {
  const rows = STEPS.filter(([from]) => from === state);
  return Int8Array.from({ length: 256 }, (_, byte) => {
    const row = rows.find(([, bytes]) => bytes.test(String.fromCharCode(byte)));
    return row === undefined ? -1 : STATES.indexOf(row[2]);
  });
});
const OTHER_VERSION = STATES.indexOf('other version');
const AT_END = STATES.indexOf(DONE);

const LINE = /^([A-Z_-]+) +(\S*) *(?:HTTP\/1\.(\d{1,3}) *)?$/;

/** @returns null while the line is incomplete. */
export function readRequestLine(bytes: Buffer): LineReading | null {
  let state = 0;
  for (const [at, byte] of bytes.entries()) {
    state = NEXT[state]?.[byte] ?? -1;
    if (state === AT_END) return partsOf(bytes.subarray(0, at).toString('latin1'), at + 1);
    if (state === -1 || state === OTHER_VERSION)
      return { refused: state === -1 ? 400 : 505, method: methodOf(bytes.subarray(0, at)), version: '1.0' };
  }
  return null;
}

function partsOf(line: string, end: number): LineReading {
  const [, method = '', target = '', minor] = LINE.exec(line.replace(/^[\r\n]+/, '').replace(/\r$/, '')) ?? [];
  if (minor === undefined && method !== 'GET') return { refused: 400, method, version: '0.9' };
  const version = minor === undefined ? '0.9' : Number(minor) === 0 ? '1.0' : '1.1';
  return { end, method, target, version };
}

function methodOf(bytes: Buffer): string {
  return /^[\r\n]*([A-Z_-]+) /.exec(bytes.toString('latin1'))?.[1] ?? '';
}

/** Target of a request. */
interface Target {
  /** Decoded path without `.`, `..` or empty segments. */
  path: string;
  /** Query as sent, without the question mark. */
  query: string;
}

const ESCAPE = /%([0-9A-Fa-f]{2})?/g;

/** Returns the path and query of a request's target, as nginx reads them; null for a target that nginx refuses. */
export function readTarget(target: string): Target | null {
  const local = target.replace(/^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/?]*/, '');
  const at = local.search(/[?#]/);
  const query = at >= 0 && local[at] === '?' ? (local.slice(at + 1).split('#', 1)[0] ?? '') : '';
  const path = normalPath(at < 0 ? local : local.slice(0, at));
  return path === null ? null : { path, query };
}

function normalPath(encoded: string): string | null {
  let isWhole = true;
  const decoded = encoded.replace(ESCAPE, (_, hex: string | undefined) => {
    if (hex === undefined || hex === '00') isWhole = false;
    return String.fromCharCode(Number.parseInt(hex ?? '0', 16));
  });
  if (!isWhole) return null;
  const parts: string[] = [];
  const given = decoded.split('/').slice(1);
  for (const [index, part] of given.entries()) {
    const isLast = index === given.length - 1;
    if (part === '..' && parts.pop() === undefined) return null;
    if (part !== '' && part !== '.' && part !== '..') parts.push(part);
    else if (isLast) parts.push('');
  }
  return `/${parts.join('/')}`;
}
