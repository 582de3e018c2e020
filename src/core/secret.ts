/** Takes a secret out of a text. */
export type Scrub = (text: string) => string;

/** Characters. A longer secret is refused: it is no key, and no expression can look for all of its forms. */
export const MAX_SECRET = 4096;

/** The fewest characters of base64 to look for: shorter ones occur in many a text by chance. */
const LEAST_BASE64 = 8;

/**
 * Takes out a secret as it is, and as somebody is likely to quote it: in JSON, percent-encoded or with character
 * references, all of it or some of its signs; as hex; in base64, also within a longer text (RFC 4648 sections 4 and 5).
 */
export function scrubber(secret: string): Scrub {
  // A host name is folded to lower case.
  const pattern = patternOf(secret, secret.length < LEAST_FOLDED ? 'g' : 'gi');
  if (pattern !== null) return (text) => text.replace(pattern, '***');
  return (text) => text.replaceAll(secret, '***');
}

/** Finds a secret in what arrives in pieces, in each form that `scrubber` takes out. */
export class SecretWatch {
  readonly #secret: string;
  /**
   * Expression for every form, compiled when an escape sign first arrives; null for a secret that is too long for one.
   */
  #pattern: RegExp | null | undefined;
  /** Whole forms, which a search for bytes finds ten times as fast as an expression. */
  readonly #forms: Buffer[];
  /** Bytes of the longest form. */
  readonly #longest: number;
  /** The end of what was pushed. */
  #end: Buffer = Buffer.alloc(0);
  #isFound = false;

  constructor(secret: string) {
    this.#secret = secret;
    const bytes = Buffer.from(secret);
    const hexForm = bytes.toString('hex');
    const forms = [secret, JSON.stringify(secret).slice(1, -1), hexForm, hexForm.toUpperCase(), ...base64Forms(bytes)];
    this.#forms = [...new Set(forms)].map((form) => Buffer.from(form));
    this.#longest = LONGEST_SIGN * secret.length;
  }

  /** True if the pushed bytes held the secret. */
  get isFound(): boolean {
    return this.#isFound;
  }

  push(bytes: Uint8Array): void {
    if (this.#isFound || this.#secret.length < LEAST_FOUND) return;
    const piece = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    const border = Buffer.concat([this.#end, piece.subarray(0, this.#longest)]);
    this.#isFound = this.#isIn(border) || this.#isIn(piece);
    this.#end = Buffer.from((piece.length < this.#longest ? border : piece).subarray(-this.#longest));
  }

  #isIn(piece: Buffer): boolean {
    if (this.#forms.some((form) => piece.includes(form))) return true;
    if (!ESCAPES.some((sign) => piece.includes(sign))) return false;
    if (this.#pattern === undefined) this.#pattern = patternOf(this.#secret, 'g');
    return this.#pattern !== null && piece.toString('latin1').search(this.#pattern) >= 0;
  }
}

/** Signs that begin every escaped form: a text without them escapes nothing. */
const ESCAPES = ['\\u00', '&#', '%', '\\/'].map((sign) => Buffer.from(sign));

/** Shorter secrets occur in evidence by chance. */
const LEAST_FOUND = 8;
const LEAST_FOLDED = 12;

/** A character reference with some zeros. */
const LONGEST_SIGN = 16;

/** Null for a secret that is too long to be looked for. */
function patternOf(secret: string, flags: 'g' | 'gi'): RegExp | null {
  if (secret === '' || secret.length > MAX_SECRET) return null;
  const bytes = Buffer.from(secret);
  const forms = [
    [...secret].map(signPattern).join(''),
    hexPattern(bytes),
    ...base64Forms(bytes).map((form) => escaped(form)),
  ];
  try {
    return new RegExp(forms.join('|'), flags);
  } catch {
    // The engine's error for an expression that is too large quotes the expression.
    return null;
  }
}

function signPattern(sign: string): string {
  const units = Array.from({ length: sign.length }, (_, at) => `\\\\u${anyCase(hex(sign.charCodeAt(at), 4))}`);
  const code = sign.codePointAt(0) ?? 0;
  const patterns = [
    escaped(sign),
    escaped(JSON.stringify(sign).slice(1, -1)),
    sign === '/' ? '\\\\/' : '',
    units.join(''),
    [...Buffer.from(sign)].map((byte) => `%${anyCase(hex(byte, 2))}`).join(''),
    `&#0*${code};`,
    `&#[xX]0*${anyCase(code.toString(16))};`,
  ];
  return `(?:${patterns.filter((pattern) => pattern !== '').join('|')})`;
}

function hexPattern(bytes: Uint8Array): string {
  return anyCase(Buffer.from(bytes).toString('hex'));
}

/** Encodes the bytes in base64 for each place in a longer text: without the characters they share with others. */
function base64Forms(bytes: Uint8Array): string[] {
  return [0, 1, 2].flatMap((before) => {
    const signs = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    const own = signs.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
    return own.length < LEAST_BASE64 ? [] : [own, own.replaceAll('+', '-').replaceAll('/', '_')];
  });
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0');
}

function anyCase(digits: string): string {
  return digits.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}
