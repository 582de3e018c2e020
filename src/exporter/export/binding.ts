import {
  createHmac,
  createSecretKey,
  type Hmac,
  type KeyObject,
  randomBytes,
  scrypt,
  timingSafeEqual,
} from 'node:crypto';
import { promisify } from 'node:util';
import { type Question, textOf } from '../../verifier/records/question.ts';
import { toRecordBytes } from '../../verifier/records/record-bytes.ts';
import type { SigningKey } from '../../verifier/signature/key.ts';

const KEY_BYTES = 32;

/** Data that a run is bound to: its question, and the random nonce of its beginning. */
export interface Bound extends Question {
  nonce: string;
}

export function newRunNonce(): string {
  return randomBytes(KEY_BYTES).toString('hex');
}

/**
 * Derives the key by which an export recognizes objects that the same run left in the archive (RFC 7914 over the
 * signing key, or over the API key for unsigned runs). Writing to the archive requires neither secret. The nonce
 * separates the objects of different beginnings. The result is a `KeyObject`, which does not print or serialize its
 * content.
 */
export async function deriveBindingKey(
  bound: Bound,
  { signingKey, apiKey }: { signingKey: SigningKey | null; apiKey: string },
): Promise<KeyObject> {
  // Uses the private number itself, so PKCS #8 and SEC 1 files of the same key give the same result.
  const secret = signingKey?.secret.export({ format: 'jwk' })['d'] ?? apiKey;
  const salt = saltOf(bound);
  const derive = promisify<string, string, number, Buffer>(scrypt);
  return createSecretKey(await derive(secret, salt, KEY_BYTES));
}

function saltOf(bound: Bound): string {
  return JSON.stringify(['evidence-run-binding', textOf(bound), bound.nonce]);
}

/** Returns a function that derives the key of each beginning once. */
export function bindingKeysOf(secrets: Parameters<typeof deriveBindingKey>[1]): (bound: Bound) => Promise<KeyObject> {
  const derived = new Map<string, Promise<KeyObject>>();
  return (bound) => {
    const salt = saltOf(bound);
    const key = derived.get(salt) ?? deriveBindingKey(bound, secrets);
    derived.set(salt, key);
    return key;
  };
}

/** Last member of a record, as `toRecordBytes` and `recordPieces` write it. */
const BINDING = /,\n {2}"binding": "([0-9a-f]{64})"\n\}\n$/;
const BINDING_BYTES = ',\n  "binding": ""\n}\n'.length + 64;
const END = '\n}\n';

/** Appends the binding to a record as its last member. */
export function bindRecord<T extends object>(key: KeyObject | null, record: T): T & { binding: string | null } {
  return { ...record, binding: bindPieces(key, [toRecordBytes(record)]) };
}

/**
 * Computes the binding of a record that is written in pieces.
 * @param pieces of the whole record, without the binding.
 */
export function bindPieces(key: KeyObject | null, pieces: Iterable<string | Uint8Array>): string | null {
  if (key === null) return null;
  const tag = beginTag(key);
  for (const piece of pieces) tag.update(piece);
  return tag.digest('hex');
}

/**
 * Reports whether a holder of the key wrote exactly these bytes.
 * @param key null if there is no holder.
 * @param bytes a record as stored.
 */
export function isBoundRecord(key: KeyObject | null, bytes: Uint8Array): boolean {
  const check = new BindingCheck(key);
  check.update(bytes);
  return check.holds();
}

/** Checks a record that arrives in chunks, like `isBoundRecord`. */
export async function isBoundStream(key: KeyObject | null, chunks: AsyncIterable<Uint8Array>): Promise<boolean> {
  const check = new BindingCheck(key);
  for await (const chunk of chunks) check.update(chunk);
  return check.holds();
}

class BindingCheck {
  readonly #tag: Hmac | null;
  /** Last bytes so far, which may contain the binding. */
  #end: Uint8Array = new Uint8Array();

  constructor(key: KeyObject | null) {
    this.#tag = key === null ? null : beginTag(key);
  }

  update(chunk: Uint8Array): void {
    const bytes = this.#end.length === 0 ? chunk : Buffer.concat([this.#end, chunk]);
    const at = Math.max(0, bytes.length - BINDING_BYTES);
    this.#tag?.update(bytes.subarray(0, at));
    this.#end = Uint8Array.from(bytes.subarray(at));
  }

  holds(): boolean {
    const stated = BINDING.exec(Buffer.from(this.#end).toString('latin1'))?.[1];
    const expected = this.#tag?.update(END).digest();
    if (stated === undefined || expected === undefined) return false;
    return timingSafeEqual(Buffer.from(stated, 'hex'), expected);
  }
}

function beginTag(key: KeyObject): Hmac {
  return createHmac('sha256', key).update('record\n');
}
