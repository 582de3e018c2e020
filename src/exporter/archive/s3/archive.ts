import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { EvidenceError, isEvidenceError } from '../../../core/errors.ts';
import type { Expected, StoredObject } from '../../../verifier/archive/archive.ts';
import { checkKey, isKey } from '../../../verifier/archive/key.ts';
import type { RunWarning } from '../../../verifier/records/record.ts';
import type { Archive, Links, Locks, ObjectSource, PutResult } from '../archive.ts';
import { conflict, differenceTo } from '../content.ts';
import { type Capabilities, findCapabilities, PROBE, SCRATCH } from './capabilities.ts';
import { Connection } from './connection.ts';
import { isRefusal } from './failure.ts';
import { confirm, type Inspection, inspect, measureObject, secure, toResult } from './inspect.ts';
import { type Limitation, limitationsOf, toWarning } from './limitations.ts';
import { S3Locks } from './locks.ts';
import { putParts, sweepUploads } from './multipart.ts';
import { formatS3Url, type S3Options, type S3Place } from './options.ts';
import { PartMemory } from './parts.ts';
import { type PutProtection, protectionOf } from './policy.ts';
import { openObject, S3Links, type Wanted } from './read.ts';
import { putOnTop, putWhole, type Upload, type Uploaded } from './upload.ts';
import { Versions } from './versions.ts';

/** Age after which an unfinished upload is considered abandoned. */
const DEAD_AFTER_MS = 24 * 60 * 60 * 1000;

/** Opens an archive in a bucket. Sends no request until the archive is used. */
export function openS3Archive(place: S3Place, options: S3Options): Archive {
  return new S3Archive(place, options);
}

// Over ten members: it is an `Archive`.
class S3Archive implements Archive {
  readonly url: string;
  readonly locks: Locks;
  readonly links: Links;
  readonly #place: S3Place;
  readonly #options: S3Options;
  readonly #connection: Connection;
  readonly #versions: Versions;
  readonly #memory: PartMemory;
  /** Version that is the object, by key. The version of a key never changes, so it is looked up once. */
  readonly #known = new Map<string, string | undefined>();
  #prepared: Promise<{ capabilities: Capabilities; limitations: Set<Limitation> }> | null = null;

  constructor(place: S3Place, options: S3Options) {
    this.url = formatS3Url(place);
    this.#place = place;
    this.#options = options;
    this.#connection = new Connection(options);
    this.#versions = new Versions(this.#connection, place);
    this.#memory = new PartMemory(options.limits.partMemoryBytes);
    this.locks = new S3Locks(this.#connection, (key) => this.#find(key));
    this.links = new S3Links(this.#connection, (key) => this.#resolve(key));
  }

  async put(key: string, source: ObjectSource, expected: Expected): Promise<PutResult> {
    checkKey(key);
    const { capabilities } = await this.#prepare();
    const upload: Upload = {
      ...this.#name(key),
      source,
      expected,
      protection: protectionOf(this.#options, new Date()),
      createOnly: capabilities.createOnly,
    };
    const inParts = expected.bytes >= this.#options.limits.multipartBytes;
    const uploaded = await this.#upload(upload, inParts);
    if (inParts) await sweepUploads(this.#connection, upload.bucket, upload.name, (name) => name === upload.name);
    if (uploaded === null) return this.#takeExisting(key, expected, upload.protection);
    const { version_id, checksum } = uploaded;
    const wanted = { ...this.#name(key), version_id };
    const found = await confirm(this.#connection, wanted, expected, checksum, upload.protection);
    if (!capabilities.createOnly && !(await this.#isFirst(key, found))) return this.#yield(key, upload);
    if (found.lockedLater) await this.#remark('locked-later');
    this.#known.set(key, found.version_id);
    return toResult('created', found);
  }

  async limitations(): Promise<readonly RunWarning[]> {
    return Array.from((await this.#prepare()).limitations, toWarning);
  }

  async read(key: string): Promise<Readable> {
    checkKey(key);
    const content = await openObject(this.#connection, await this.#resolve(key));
    if (content === null) throw this.#missing(key);
    return content;
  }

  async readBytes(key: string, maxBytes: number): Promise<Uint8Array> {
    const blocks: Uint8Array[] = [];
    let bytes = 0;
    for await (const block of (await this.read(key)) as AsyncIterable<Uint8Array>) {
      bytes += block.length;
      if (bytes > maxBytes) throw new EvidenceError('unreadable', `${key} has more than ${maxBytes} bytes`);
      blocks.push(block);
    }
    return Buffer.concat(blocks);
  }

  async stat(key: string): Promise<{ bytes: number } | null> {
    checkKey(key);
    const found = await this.#versions.find(this.#name(key).name);
    return found === null ? null : { bytes: found.bytes };
  }

  async *list(prefix: string): AsyncGenerator<StoredObject> {
    for await (const { name, ...found } of this.#versions.under(`${this.#place.prefix}${prefix}`)) {
      const key = name.slice(this.#place.prefix.length);
      if (key === PROBE || key === SCRATCH) continue;
      if (!isKey(key)) yield { key, ...found, irregular: 'special' };
      else {
        this.#known.set(key, found.version_id);
        yield { key, ...found };
      }
    }
  }

  async fetchFile(key: string, directory: string): Promise<string> {
    const content = await this.read(key);
    const path = join(directory, createHash('sha256').update(key).digest('hex'));
    await pipeline(content, createWriteStream(path));
    return path;
  }

  async close(): Promise<void> {
    this.#connection[Symbol.dispose]();
  }

  /** Probes the store before anything is stored, and removes unfinished uploads of dead processes. */
  #prepare(): Promise<{ capabilities: Capabilities; limitations: Set<Limitation> }> {
    this.#prepared ??= (async () => {
      const { bucket, prefix } = this.#place;
      const protection = protectionOf(this.#options, new Date());
      const capabilities = await findCapabilities(this.#connection, this.#place, this.#versions, protection);
      const limitations = new Set(limitationsOf(capabilities));
      if (this.#versions.listable !== true) limitations.add('versions-unlisted');
      const isDead = (_name: string, begun: Date | undefined) =>
        begun !== undefined && Date.now() - begun.getTime() > DEAD_AFTER_MS;
      if (!(await sweepUploads(this.#connection, bucket, prefix, isDead))) limitations.add('uploads-unlisted');
      return { capabilities, limitations };
    })();
    return this.#prepared;
  }

  /** Returns null if the key exists. */
  async #upload(upload: Upload, inParts: boolean): Promise<Uploaded | null> {
    const { bucket, name, expected } = upload;
    try {
      return await this.#connection.attempt(
        `store s3://${bucket}/${name}`,
        async (signal) => {
          // Looked up on each attempt, because an attempt that seemed to fail may have succeeded, and because the store
          // considers a name free if its newest version is a delete marker.
          if ((await this.#versions.find(name)) !== null) return null;
          if (inParts) return putParts(this.#connection, upload, this.#memory);
          return putWhole(this.#connection, upload, signal);
        },
        { bytes: expected.bytes, leave: [412] },
      );
    } catch (error) {
      if (isRefusal(error, 412)) return null;
      throw error;
    }
  }

  /**
   * Reports whether a version is the first of its key. If several writers stored the key at once, the first version
   * wins.
   */
  async #isFirst(key: string, { version_id }: Inspection): Promise<boolean> {
    if (version_id === undefined) return true;
    return (await this.#versions.find(this.#name(key).name))?.version_id === version_id;
  }

  /**
   * Handles a lost race like `#takeExisting`. If the first version has other content, it is copied over this later
   * version.
   */
  async #yield(key: string, { expected, protection }: Upload): Promise<PutResult> {
    try {
      return await this.#takeExisting(key, expected, protection);
    } catch (error) {
      if (!isEvidenceError(error, 'conflict')) throw error;
      const first = await this.#resolve(key);
      if (!(await putOnTop(this.#connection, first, protection))) await this.#remark('left-covered');
      throw error;
    }
  }

  /** Returns the result of a `put` whose key exists. */
  async #takeExisting(key: string, expected: Expected, protection: PutProtection): Promise<PutResult> {
    const wanted = await this.#resolve(key);
    const found = await inspect(this.#connection, wanted);
    if (found === null) throw this.#missing(key);
    const actual = await measureObject(this.#connection, wanted, found);
    if (differenceTo(expected, actual) !== undefined) throw conflict(key, expected, actual);
    // The process that stored the object may have died before locking it.
    const secured = await secure(this.#connection, wanted, protection);
    if (secured.lockedLater) await this.#remark('locked-later');
    return toResult('existing', secured);
  }

  /** Adds a limitation that was discovered later. */
  async #remark(limitation: Limitation): Promise<void> {
    (await this.#prepare()).limitations.add(limitation);
  }

  async #resolve(key: string): Promise<Wanted> {
    const wanted = await this.#find(key);
    if (wanted === null) throw this.#missing(key);
    return wanted;
  }

  async #find(key: string): Promise<Wanted | null> {
    checkKey(key);
    const { bucket, name } = this.#name(key);
    if (!this.#known.has(key)) {
      const found = await this.#versions.find(name);
      if (found === null) return null;
      this.#known.set(key, found.version_id);
    }
    return { bucket, name, version_id: this.#known.get(key) };
  }

  #name(key: string): { bucket: string; name: string } {
    return { bucket: this.#place.bucket, name: `${this.#place.prefix}${key}` };
  }

  #missing(key: string): EvidenceError {
    return new EvidenceError('not-found', `the archive at ${this.url} has no ${key}`);
  }
}
