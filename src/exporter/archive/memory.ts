import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { EvidenceError } from '../../core/errors.ts';
import type { Expected, StoredObject } from '../../verifier/archive/archive.ts';
import { checkKey, compareKeys } from '../../verifier/archive/key.ts';
import type { RunWarning } from '../../verifier/records/record.ts';
import type { Archive, ObjectSource, PutResult } from './archive.ts';
import { conflict, differenceTo, expectedContent } from './content.ts';

/** Opens an archive that ends with the process, for tests and for trying a command without leaving a trace. */
export function openMemoryArchive(): Archive {
  return new MemoryArchive();
}

// Over ten members: it is an `Archive`.
class MemoryArchive implements Archive {
  readonly url = 'memory:';
  readonly locks = null;
  readonly links = null;
  readonly #objects = new Map<string, Buffer>();

  async put(key: string, source: ObjectSource, expected: Expected): Promise<PutResult> {
    checkKey(key);
    if (this.#objects.has(key)) return this.#takeExisting(key, expected);
    const blocks: Uint8Array[] = [];
    for await (const block of expectedContent(source, expected)) blocks.push(Buffer.from(block));
    // Another `put` may have finished first.
    if (this.#objects.has(key)) return this.#takeExisting(key, expected);
    this.#objects.set(key, Buffer.concat(blocks));
    return { state: 'created' };
  }

  async limitations(): Promise<readonly RunWarning[]> {
    return [];
  }

  async read(key: string): Promise<Readable> {
    return Readable.from([Buffer.from(this.#object(key))], { objectMode: false });
  }

  async readBytes(key: string, maxBytes: number): Promise<Uint8Array> {
    const object = this.#object(key);
    if (object.length > maxBytes) throw new EvidenceError('unreadable', `${key} has more than ${maxBytes} bytes`);
    return Buffer.from(object);
  }

  async stat(key: string): Promise<{ bytes: number } | null> {
    checkKey(key);
    const object = this.#objects.get(key);
    return object === undefined ? null : { bytes: object.length };
  }

  async *list(prefix: string): AsyncGenerator<StoredObject> {
    const keys = [...this.#objects.keys()].filter((key) => key.startsWith(prefix)).sort(compareKeys);
    for (const key of keys) yield { key, bytes: this.#object(key).length };
  }

  async fetchFile(key: string, directory: string): Promise<string> {
    const object = this.#object(key);
    // Names the file by a digest: objects of different folders may share their last name, which may also reach the
    // maximum length.
    const path = join(directory, createHash('sha256').update(key).digest('hex'));
    await writeFile(path, object);
    return path;
  }

  async close(): Promise<void> {}

  #takeExisting(key: string, expected: Expected): PutResult {
    const existing = this.#object(key);
    const actual = { sha256: createHash('sha256').update(existing).digest('hex'), bytes: existing.length };
    if (differenceTo(expected, actual) !== undefined) throw conflict(key, expected, actual);
    return { state: 'existing' };
  }

  #object(key: string): Buffer {
    checkKey(key);
    const object = this.#objects.get(key);
    if (object === undefined) throw new EvidenceError('not-found', `the archive has no ${key}`);
    return object;
  }
}
