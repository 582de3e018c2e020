import { readFileSync } from 'node:fs';
import type { SealKeys } from '../chain/walk.ts';
import { toHmacKey } from '../encoding/digest.ts';
import { EvidenceError } from '../errors.ts';

/**
 * The seal keys from their files. A file holds `hex:…`, `base64:…`, or the key's own text; a line feed at its end is
 * not part of the key.
 */
export function readSealKeys(files: ReadonlyMap<string, string>): SealKeys {
  return new Map([...files].map(([id, path]) => [id, toHmacKey(readKey(id, path))] as const));
}

function readKey(id: string, path: string): Uint8Array {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    throw new EvidenceError('config', `the file of the seal key "${id}", ${path}, cannot be read`, { cause: error });
  }
  const text = bytes.toString('utf8').replace(/\r?\n$/, '');
  const encoded = /^(hex|base64):([0-9A-Za-z+/=]+)$/.exec(text);
  const key = encoded === null ? Buffer.from(text) : Buffer.from(encoded[2] ?? '', encoded[1] as 'hex' | 'base64');
  if (key.length === 0) throw new EvidenceError('config', `the file of the seal key "${id}", ${path}, holds no key`);
  return key;
}
