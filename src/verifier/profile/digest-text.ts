import { base64Bytes, hexBytes, hexText } from '../../core/bytes.ts';
import type { Algorithm, DigestDescription, DigestEncoding, SealDescription } from './digest-description.ts';

/** Length of a digest in bytes. */
const LENGTHS: Record<Algorithm, number> = {
  'sha-256': 32,
  'sha-384': 48,
  'sha-512': 64,
  'hmac-sha-256': 32,
  'hmac-sha-384': 48,
  'hmac-sha-512': 64,
};

/** Returns an encoded digest in lower-case hex; null if it is not in that encoding. Base64 padding may be absent. */
export function toHex(text: string, encoding: DigestEncoding): string | null {
  if (encoding === 'hex') return /^(?:[0-9a-f]{2})+$/.test(text) ? text : null;
  const bytes = digestBytes(text, encoding);
  return bytes === null ? null : hexText(bytes);
}

/** Returns an encoded digest as bytes; null if it is not in that encoding. */
export function digestBytes(text: string, encoding: DigestEncoding): Uint8Array | null {
  if (text === '') return null;
  if (encoding === 'hex') return /^(?:[0-9a-f]{2})+$/.test(text) ? hexBytes(text) : null;
  return base64Bytes(text.replace(/={1,2}$/, ''), encoding);
}

/** Reads the digests of a contract. */
export interface DigestReader {
  /** Description of a digest for people. */
  readonly shape: string;
  /** Text that represents "no predecessor" among digests. */
  readonly genesis: string;
  /** Returns lower-case hex; null if the value is no digest of this contract. */
  digest(sent: unknown): string | null;
  /** Returns the same as `digest`; `genesis` for the value of the first entry. */
  previous(sent: unknown): string | null;
}

/** Returns a reader of a contract's seals, which returns lower-case hex, or null for a value that no key can make. */
export function macReader({ encoding, algorithm }: SealDescription): (sent: unknown) => string | null {
  return (sent) => {
    const hex = typeof sent === 'string' ? toHex(sent, encoding) : null;
    return hex?.length === 2 * LENGTHS[algorithm] ? hex : null;
  };
}

const MIN_BYTES = 16;

export function digestReader({ encoding, prefix, genesis, recipe }: DigestDescription): DigestReader {
  const length = recipe === null ? null : LENGTHS[recipe.algorithm];
  const digest = (sent: unknown): string | null => {
    if (typeof sent !== 'string' || !sent.startsWith(prefix)) return null;
    const hex = toHex(sent.slice(prefix.length), encoding);
    if (hex === null || (length === null ? hex.length < 2 * MIN_BYTES : hex.length !== 2 * length)) return null;
    return hex;
  };
  const none = genesis === 'zeros' ? '0'.repeat(2 * (length ?? 32)) : '';
  const isGenesis = (sent: unknown): boolean => {
    if (genesis === 'null') return sent === null;
    if (genesis === 'absent') return sent === undefined;
    if (genesis === 'empty') return sent === '';
    return genesis !== 'zeros' && sent === genesis.text;
  };
  return {
    shape: shapeOf(encoding, length, prefix),
    genesis: none,
    digest,
    previous: (sent) => {
      if (isGenesis(sent)) return none;
      const hex = digest(sent);
      return genesis === 'zeros' && hex !== null && /^0+$/.test(hex) ? none : hex;
    },
  };
}

function shapeOf(encoding: DigestEncoding, length: number | null, prefix: string): string {
  const words =
    encoding === 'hex'
      ? `${length === null ? '' : `${2 * length} `}lower-case hex digits`
      : `${length === null ? '' : `${length} bytes in `}${encoding}`;
  return prefix === '' ? words : `${words} after "${prefix}"`;
}
