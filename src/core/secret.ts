/** Removes a secret from a text. */
export type Scrub = (text: string) => string;

/** Maximum length of a secret in characters: a longer one is no key, and no expression can match all of its forms. */
export const MAX_SECRET = 4096;

/** Minimum length of a base64 form to look for: shorter ones occur in many texts by chance. */
const LEAST_BASE64 = 8;

/**
 * Returns a function that removes a secret in every form in which it is likely to be quoted: as is; in JSON,
 * percent-encoded or with character references, fully or in part; as hex; and in base64, also inside a longer text (RFC
 * 4648 sections 4 and 5).
 */
export function scrubber(secret: string): Scrub {
  // Long secrets are matched in any case, because a host name is folded to lower case.
  const pattern = patternOf(secret, secret.length < LEAST_FOLDED ? 'g' : 'gi');
  if (pattern !== null) return (text) => text.replace(pattern, '***');
  return (text) => text.replaceAll(secret, '***');
}

/** Finds a secret in bytes that arrive in pieces, in each form that `scrubber` removes. */
export class SecretWatch {
  readonly #secret: string;
  /**
   * Expression for every form, compiled when an escape sign first arrives; null for a secret that is too long for one.
   */
  #pattern: RegExp | null | undefined;
  /** Unescaped forms, which a byte search finds ten times as fast as an expression. */
  readonly #forms: Buffer[];
  /** Length of the longest form in bytes. */
  readonly #longest: number;
  /** Last bytes that were pushed. */
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

  /** True if the pushed bytes contained the secret. */
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

/** Beginnings of all escaped forms: a text without them escapes nothing. */
const ESCAPES = ['\\u00', '&#', '%', '\\/'].map((sign) => Buffer.from(sign));

/** Minimum length of a secret to look for: shorter ones occur in evidence by chance. */
const LEAST_FOUND = 8;
const LEAST_FOLDED = 12;

/** Length of the longest form of one character: a character reference with some zeros. */
const LONGEST_SIGN = 16;

/** Returns null for a secret that is empty or too long to look for. */
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
    // The engine's error for an expression that is too large would quote the expression.
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

/**
 * Encodes the bytes in base64 at each offset in a longer text, without the characters that they share with other bytes.
 */
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
