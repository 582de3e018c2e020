/** Takes a secret out of a text. */
export type Scrub = (text: string) => string;

/** What is shorter stands in many a text by chance. */
const LEAST_BASE64 = 8;

/**
 * Takes out a secret as it is, and as somebody is likely to quote it: in JSON, percent-encoded or with character
 * references, all of it or some of its signs; as hex; in base64, also within a longer text (RFC 4648 sections 4 and 5).
 */
export function scrubber(secret: string): Scrub {
  const bytes = Buffer.from(secret);
  const forms = [
    [...secret].map(signPattern).join(''),
    hexPattern(bytes),
    ...base64Forms(bytes).map((form) => escaped(form)),
  ];
  const pattern = new RegExp(forms.join('|'), 'g');
  return (text) => text.replace(pattern, '***');
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

/** What the bytes make of base64 wherever they begin in a longer text: without the signs they share with others. */
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
