import { type Element, malformed } from './der.ts';

const MAX_OID_OCTETS = 64;
/**
 * Maximum length of an integer: RFC 3161 requires serial numbers of at least 160 bits; nothing in a token needs more
 * than 512.
 */
const MAX_INTEGER_OCTETS = 64;

/** Returns the dotted form of an OBJECT IDENTIFIER (X.690 section 8.19). */
export function readOid({ content }: Element, what: string): string {
  const last = content.at(-1);
  if (last === undefined || last >= 0x80 || content.length > MAX_OID_OCTETS)
    throw malformed(`${what} is no object identifier`);
  const numbers: bigint[] = [];
  let number = 0n;
  let starts = true;
  for (const octet of content) {
    if (starts && octet === 0x80) throw malformed(`${what} is no object identifier in DER`);
    number = (number << 7n) | BigInt(octet & 0x7f);
    starts = octet < 0x80;
    if (!starts) continue;
    numbers.push(number);
    number = 0n;
  }
  const [first = 0n, ...rest] = numbers;
  const root = first < 40n ? 0n : first < 80n ? 1n : 2n;
  return [root, first - root * 40n, ...rest].join('.');
}

/** Reads a two's complement integer in the minimal number of octets (X.690 section 8.3). */
export function readInteger({ content }: Element, what: string): bigint {
  const [first, second] = content;
  if (first === undefined || content.length > MAX_INTEGER_OCTETS)
    throw malformed(`${what} is a number of ${content.length} octets`);
  if (second !== undefined && (first === 0 ? second < 0x80 : first === 0xff && second >= 0x80))
    throw malformed(`${what} is a number in more octets than needed`);
  const value = BigInt(`0x${Buffer.from(content).toString('hex')}`);
  return first < 0x80 ? value : value - (1n << BigInt(8 * content.length));
}

export function readCount(element: Element, most: number, what: string): number {
  const value = readInteger(element, what);
  if (value < 0n || value > BigInt(most)) throw malformed(`${what} is ${value}, not a number from 0 to ${most}`);
  return Number(value);
}

/** Reads a BOOLEAN (X.690 section 11.1). */
export function readBoolean({ content }: Element, what: string): boolean {
  const [value] = content;
  if (content.length !== 1 || (value !== 0 && value !== 0xff)) throw malformed(`${what} is neither true nor false`);
  return value === 0xff;
}

/** Returns the numbers of the bits that are set in a BIT STRING, 0 first (X.680 named bit lists). */
export function readBits({ content }: Element, what: string): number[] {
  const [unused, ...octets] = content;
  if (unused === undefined || unused > 7 || (octets.length === 0 && unused > 0))
    throw malformed(`${what} is no bit string`);
  return octets.flatMap((octet, index) =>
    Array.from({ length: 8 }, (_, bit) => ((octet & (0x80 >> bit)) === 0 ? -1 : index * 8 + bit)).filter(
      (bit) => bit >= 0,
    ),
  );
}

const TIME = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(?:\.(\d{1,9}))?Z$/;

/**
 * Reads a GeneralizedTime (RFC 3161 section 2.4.2): UTC with seconds and a fraction, of which `Date` keeps
 * milliseconds.
 */
export function readTime({ content }: Element, what: string): { date: Date; text: string } {
  const text = Buffer.from(content).toString('latin1');
  const match = TIME.exec(text);
  if (match === null) throw malformed(`${what} is no GeneralizedTime in UTC with seconds`);
  const [year, month, day, hour, minute, second, fraction = ''] = match.slice(1);
  const iso = `${year}-${month}-${day}T${hour}:${minute}:${second}.${fraction.slice(0, 3).padEnd(3, '0')}Z`;
  const date = new Date(iso);
  // `Date` accepts February 30 as March 2.
  if (Number.isNaN(date.getTime()) || date.toISOString() !== iso) throw malformed(`${what} ${text} is no date`);
  return { date, text };
}
