import { createHash } from 'node:crypto';

/** Received bytes, with runs of zeros kept as lengths, so that a sparse file of any size fits into memory. */
export class Content {
  readonly #pieces: (Buffer | number)[] = [];
  readonly #sha256 = createHash('sha256');
  readonly #md5 = createHash('md5');
  bytes = 0;
  /** Base64, set when the content is complete. */
  sha256 = '';
  /** Hex, set when the content is complete. */
  md5 = '';

  add(block: Buffer): void {
    this.bytes += block.length;
    this.#sha256.update(block);
    this.#md5.update(block);
    if (block.length > 0) this.#pieces.push(isZero(block) ? block.length : Buffer.from(block));
  }

  end(): this {
    this.sha256 = this.#sha256.digest('base64');
    this.md5 = this.#md5.digest('hex');
    return this;
  }

  *read(from = 0): Generator<Buffer> {
    let skip = from;
    for (const piece of this.#pieces) {
      const block = typeof piece === 'number' ? Buffer.alloc(piece) : piece;
      if (skip < block.length) yield block.subarray(skip);
      skip = Math.max(0, skip - block.length);
    }
  }

  /** Changes the first byte, and keeps the digests computed before. */
  damage(): void {
    const [first] = this.#pieces;
    if (first === undefined) return;
    const block = typeof first === 'number' ? Buffer.alloc(first) : first;
    block[0] = (block[0] ?? 0) ^ 1;
    this.#pieces[0] = block;
  }
}

const ZEROS = Buffer.alloc(1024 * 1024);

function isZero(block: Buffer): boolean {
  return block.length <= ZEROS.length && block.equals(ZEROS.subarray(0, block.length));
}

export interface Lock {
  mode: string;
  until: Date;
}

export interface StoredVersion {
  id: string;
  marker: boolean;
  parts: Content[];
  bytes: number;
  etag: string;
  /** Checksum; undefined without one. */
  checksum: string | undefined;
  metadata: Record<string, string>;
  lock: Lock | undefined;
  legalHold: boolean;
  encryption: { algorithm: string; key: string } | undefined;
  modified: Date;
}

export interface PendingUpload {
  id: string;
  name: string;
  checksums: boolean;
  parts: Map<number, Content>;
  /** Properties of the object other than its content. */
  rest: Pick<StoredVersion, 'metadata' | 'lock' | 'legalHold' | 'encryption'>;
  begun: Date;
}

/** A bucket, with the versions of each name, oldest first. */
export class Bucket {
  readonly names = new Map<string, StoredVersion[]>();
  readonly uploads = new Map<string, PendingUpload>();
  readonly #versioned: boolean;
  #last = 0;

  constructor(versioned: boolean) {
    this.#versioned = versioned;
  }

  newId(): string {
    this.#last += 1;
    return `id-${String(this.#last).padStart(6, '0')}`;
  }

  store(name: string, version: Omit<StoredVersion, 'id' | 'modified'>): StoredVersion {
    const stored = { ...version, id: this.#versioned ? this.newId() : 'null', modified: new Date() };
    const before = this.#versioned ? (this.names.get(name) ?? []) : [];
    this.names.set(name, [...before, stored]);
    return stored;
  }

  /** Returns the newest version; undefined without one, or for a delete marker. */
  current(name: string): StoredVersion | undefined {
    const newest = this.names.get(name)?.at(-1);
    return newest?.marker === true ? undefined : newest;
  }

  sortedNames(): string[] {
    return [...this.names.keys()].sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)));
  }
}
