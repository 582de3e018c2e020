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

/** The things that a run is bound to: its question, and the random text that it was begun with. */
export interface Bound extends Question {
  nonce: string;
}

export function newRunNonce(): string {
  return randomBytes(KEY_BYTES).toString('hex');
}

/**
 * Derives the key by which an export knows again what the same run left in the archive (RFC 7914 over the signing key, or
 * over the API key where runs are not signed). Whoever can write into the archive has neither. The nonce keeps objects of
 * one beginning out of every other one. The result is a `KeyObject`, which neither prints nor serialises what it holds.
 */
export async function deriveBindingKey(
  bound: Bound,
  { signingKey, apiKey }: { signingKey: SigningKey | null; apiKey: string },
): Promise<KeyObject> {
  // The number that is the key, whatever the file's form: PKCS #8 and SEC 1 give the same.
  const secret = signingKey?.secret.export({ format: 'jwk' })['d'] ?? apiKey;
  const salt = saltOf(bound);
  const derive = promisify<string, string, number, Buffer>(scrypt);
  return createSecretKey(await derive(secret, salt, KEY_BYTES));
}

function saltOf(bound: Bound): string {
  return JSON.stringify(['evidence-run-binding', textOf(bound), bound.nonce]);
}

/** Derives the key of each beginning once. */
export function bindingKeysOf(secrets: Parameters<typeof deriveBindingKey>[1]): (bound: Bound) => Promise<KeyObject> {
  const derived = new Map<string, Promise<KeyObject>>();
  return (bound) => {
    const salt = saltOf(bound);
    const key = derived.get(salt) ?? deriveBindingKey(bound, secrets);
    derived.set(salt, key);
    return key;
  };
}

/** The last member of a record, as `toRecordBytes` and `recordPieces` write it. */
const BINDING = /,\n {2}"binding": "([0-9a-f]{64})"\n\}\n$/;
const BINDING_BYTES = ',\n  "binding": ""\n}\n'.length + 64;
const END = '\n}\n';

/** The record with its binding after the other members. */
export function bindRecord<T extends object>(key: KeyObject | null, record: T): T & { binding: string | null } {
  return { ...record, binding: bindPieces(key, [toRecordBytes(record)]) };
}

/**
 * The binding of a record that is written in pieces.
 * @param pieces all of it, without the binding.
 */
export function bindPieces(key: KeyObject | null, pieces: Iterable<string | Uint8Array>): string | null {
  if (key === null) return null;
  const tag = beginTag(key);
  for (const piece of pieces) tag.update(piece);
  return tag.digest('hex');
}

/**
 * Reports whether somebody who has the key wrote these very bytes.
 * @param key null for nobody.
 * @param bytes a record as it is stored.
 */
export function isBoundRecord(key: KeyObject | null, bytes: Uint8Array): boolean {
  const check = new BindingCheck(key);
  check.update(bytes);
  return check.holds();
}

/** The same of a record that comes in chunks. */
export async function isBoundStream(key: KeyObject | null, chunks: AsyncIterable<Uint8Array>): Promise<boolean> {
  const check = new BindingCheck(key);
  for await (const chunk of chunks) check.update(chunk);
  return check.holds();
}

class BindingCheck {
  readonly #tag: Hmac | null;
  /** The end so far, in which the binding may stand. */
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
