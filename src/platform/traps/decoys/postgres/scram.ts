import { createHmac, hash, pbkdf2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { fatalError, type PostgresError } from './messages.ts';

/** First SCRAM message of a client, as PostgreSQL reads it. */
interface ClientFirst {
  /** GS2 header, which the final message has to repeat. */
  header: string;
  bare: string;
  nonce: string;
}

interface ClientFinal {
  withoutProof: string;
  nonce: string;
  proof: Buffer;
}

const violation = (detail: string, at: string) =>
  fatalError('08P01', 'malformed SCRAM message', `auth-scram.c:${at}`, detail);
const unsupported = (message: string, at: string) =>
  fatalError('0A000', message, `auth-scram.c:${at} read_client_first_message`);

/** Returns the error in a message as a whole, before its attributes are read; null if there is none. */
export function checkWhole(message: string): PostgresError | null {
  if (message === '') return violation('The message is empty.', '366 scram_exchange');
  if (message.includes('\0')) return violation('Message length does not match input length.', '371 scram_exchange');
  return null;
}

export function readClientFirst(message: string, isBound: boolean): ClientFirst | PostgresError {
  const [flag = ''] = message;
  if (flag !== 'p' && flag !== 'n' && flag !== 'y')
    return violation(`Unexpected channel-binding flag "${shown(flag)}".`, '1025 read_client_first_message');
  if ((flag === 'p') !== isBound)
    return violation(
      isBound
        ? 'The client selected SCRAM-SHA-256-PLUS, but the SCRAM message does not include channel binding data.'
        : 'The client selected SCRAM-SHA-256 without channel binding, but the SCRAM message includes channel binding data.',
      isBound ? '948 read_client_first_message' : '1007 read_client_first_message',
    );
  const header = /^[^,]*,[^,]*,/.exec(message)?.[0] ?? '';
  if (/^[^,]*,a/.test(header))
    return unsupported('client uses authorization identity, but it is not supported', '1036');
  const bare = message.slice(header.length);
  if (bare.startsWith('m=')) return unsupported('client requires an unsupported SCRAM extension', '1057');
  const name = readAttribute(bare, 'n');
  if (typeof name !== 'string') return name;
  const nonce = readAttribute(bare.slice(name.length + 3), 'r');
  if (typeof nonce !== 'string') return nonce;
  if (!/^[\x21-\x2b\x2d-\x7e]*$/.test(nonce))
    return fatalError(
      '08P01',
      'non-printable characters in SCRAM nonce',
      'auth-scram.c:1071 read_client_first_message',
    );
  return { header, bare, nonce };
}

/**
 * @param header of the first message, which the final message repeats; @param bound channel binding data that follows
 * the header there.
 */
export function readClientFinal(
  message: string,
  header: string,
  bound: Uint8Array | null,
): ClientFinal | PostgresError {
  const binding = readAttribute(message, 'c');
  if (typeof binding !== 'string') return binding;
  const expected = Buffer.concat([Buffer.from(header, 'latin1'), bound ?? Buffer.alloc(0)]).toString('base64');
  if (binding !== expected) return bound === null ? unexpectedBinding : wrongBinding;
  const nonce = readAttribute(message.slice(binding.length + 3), 'r');
  if (typeof nonce !== 'string') return nonce;
  const at = message.lastIndexOf(',p=');
  if (at === -1) return violation('Attribute expected, but found end of string.', '825 read_any_attr');
  const proof = Buffer.from(message.slice(at + 3), 'base64');
  if (proof.length !== 32)
    return violation('Malformed proof in client-final-message.', '1353 read_client_final_message');
  return { withoutProof: message.slice(0, at), nonce, proof };
}

const unexpectedBinding = fatalError(
  '08P01',
  'unexpected SCRAM channel-binding attribute in client-final-message',
  'auth-scram.c:1335 read_client_final_message',
);
const wrongBinding = fatalError(
  '28000',
  'SCRAM channel binding check failed',
  'auth-scram.c:1318 read_client_final_message',
);

function readAttribute(text: string, name: string): string | PostgresError {
  const [found = '\0'] = text;
  if (found !== name)
    return violation(`Expected attribute "${name}" but found "${shown(found)}".`, '712 read_attr_value');
  if (text[1] !== '=') return violation(`Expected character "=" for attribute "${name}".`, '724 read_attr_value');
  return text.slice(2).split(',', 1)[0] ?? '';
}

/** Formats a character as `sanitize_char` does. */
function shown(char: string): string {
  return char >= '!' && char <= '~' ? `'${char}'` : `0x${char.charCodeAt(0).toString(16).padStart(2, '0')}`;
}

/** Iteration count of SCRAM-SHA-256 (RFC 5802, RFC 7677). */
export const SCRAM_ITERATIONS = 4096;

const derive = promisify(pbkdf2);

/** Keys that each side derives from a password: RFC 5802 section 3. */
interface ScramKeys {
  clientKey: Buffer;
  storedKey: Buffer;
  serverKey: Buffer;
}

export async function scramKeys(password: string, salt: Uint8Array, iterations: number): Promise<ScramKeys> {
  const salted = await derive(password, salt, iterations, 32, 'sha256');
  const clientKey = hmac(salted, 'Client Key');
  return { clientKey, storedKey: hash('sha256', clientKey, 'buffer'), serverKey: hmac(salted, 'Server Key') };
}

/** Returns a nonce as long as PostgreSQL's. */
export function scramNonce(): string {
  return randomBytes(18).toString('base64');
}

/** Returns the salt of a user name, which is constant, whether or not the user exists. */
export function saltOf(key: Uint8Array, user: string): Buffer {
  return hmac(key, user).subarray(0, 16);
}

/** @param message the AuthMessage of RFC 5802. */
export function isProof({ storedKey }: ScramKeys, message: string, proof: Uint8Array): boolean {
  return timingSafeEqual(hash('sha256', xor(proof, hmac(storedKey, message)), 'buffer'), storedKey);
}

export function proofOf({ clientKey, storedKey }: ScramKeys, message: string): string {
  return xor(clientKey, hmac(storedKey, message)).toString('base64');
}

export function serverSignature({ serverKey }: ScramKeys, message: string): string {
  return hmac(serverKey, message).toString('base64');
}

function hmac(key: Uint8Array, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

function xor(one: Uint8Array, other: Uint8Array): Buffer {
  return Buffer.from(one.map((byte, at) => byte ^ (other[at] ?? 0)));
}
