import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ZipArchive } from 'archiver';
import { inBlocks, toWrites } from '../../core/chunks.ts';
import { StreamingSha256 } from '../../core/digest.ts';
import type { OpenSource } from './source.ts';

export interface PackedFile {
  path: string;
  bytes: number;
  /** Digest of the file, hex. */
  sha256: string;
}

/** File whose content may depend on the files packed before it, as a manifest's does. */
export interface FileToPack {
  path: string;
  source(packed: readonly PackedFile[]): OpenSource;
}

interface PackOptions {
  /** Path of the zip. An existing file is overwritten. */
  target: string;
  /** Folder in the zip, without a slash. */
  folder: string;
  files: readonly FileToPack[];
  /** Date of every entry. Zip stores dates from 1980 on, to two seconds. */
  date: Date;
  /** Compression level of zlib, 0 to 9. */
  level: number;
  /** Paths to store without compression. */
  stored: ReadonlySet<string>;
}

export interface Packed {
  bytes: number;
  /** Digest of the zip, hex. */
  sha256: string;
  files: PackedFile[];
}

const BLOCK = 256 * 1024;
/** Size of a deflated block. Each block costs a switch between threads, so this is larger than zlib's default. */
const DEFLATED_BYTES = 64 * 1024;

/** Permission bits become bytes of the zip, so they are the same for every file on every machine. */
const FILE_MODE = 0o644;

/**
 * Writes the files in the given order, reading each source once and hashing the zip as it is written. Durability is
 * left to the archive, which copies the zip. If packing fails, the promise rejects and the caller removes the partial
 * file.
 */
export async function packZip(options: PackOptions): Promise<Packed> {
  const { target, files, folder, level } = options;
  await using handle = await open(target, 'w');
  const archive = new ZipArchive({ zlib: { level, chunkSize: DEFLATED_BYTES } });
  const digest = new StreamingSha256();
  const failure = new AbortController();
  const written = pipeline(archive, async (chunks: AsyncIterable<Buffer>) => {
    // archiver emits every header field as a separate chunk of two or four bytes.
    for await (const block of inBlocks(chunks, BLOCK)) {
      digest.update(block);
      for (const piece of toWrites(block)) writeFileSync(handle.fd, piece);
    }
  });
  // Handled here and again by `await` below, so that a failure between two files does not go unhandled.
  written.catch((error: unknown) => failure.abort(error));
  try {
    const packed: PackedFile[] = [];
    for (const file of files) {
      const source = file.source(packed);
      packed.push(await append(archive, source, `${folder}/${file.path}`, options, failure.signal));
    }
    // The promise of `finalize` never settles after a failure; `written` does.
    archive.finalize().catch(() => undefined);
    await written;
    return { ...digest.finish(), files: packed };
  } catch (error) {
    archive.destroy(error instanceof Error ? error : undefined);
    await written.catch(() => undefined);
    throw failure.signal.aborted ? failure.signal.reason : error;
  }
}

/**
 * Appends one file and waits for it. archiver does not forward a source's `error` event, so a queue of files would wait
 * forever for one that failed.
 */
async function append(
  archive: ZipArchive,
  source: OpenSource,
  name: string,
  { date, stored }: PackOptions,
  signal: AbortSignal,
): Promise<PackedFile> {
  const digest = new StreamingSha256();
  const content = source.read();
  const isAtHand = content instanceof Uint8Array;
  const input = isAtHand
    ? bufferOf(content)
    : Readable.from(source.sha256 === undefined ? digest.through(content) : content);
  const isDone = once(archive, 'entry', { signal });
  if (input instanceof Readable) input.once('error', (error) => archive.destroy(error));
  archive.append(input, { name, date, mode: FILE_MODE, store: stored.has(source.path) });
  try {
    await isDone;
  } finally {
    if (input instanceof Readable) input.destroy();
  }
  return { path: source.path, bytes: source.bytes, sha256: source.sha256 ?? digest.finish().sha256 };
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
