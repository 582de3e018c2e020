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
  /** Hex. */
  sha256: string;
}

/** A file whose content may depend on those packed before it, as a manifest's does. */
export interface FileToPack {
  path: string;
  source(packed: readonly PackedFile[]): OpenSource;
}

interface PackOptions {
  /** Overwritten if it exists. */
  target: string;
  /** The folder in the zip, without a slash. */
  folder: string;
  files: readonly FileToPack[];
  /** The date of every entry; zip knows it to two seconds and from 1980 on. */
  date: Date;
  /** 0 to 9, as zlib's. */
  level: number;
  /** Paths to store without compression. */
  stored: ReadonlySet<string>;
}

export interface Packed {
  bytes: number;
  /** The digest of the zip, hex. */
  sha256: string;
  files: PackedFile[];
}

const BLOCK = 256 * 1024;
/** The usual size of a deflated block: each more costs a turn between threads. */
const DEFLATED_BYTES = 64 * 1024;

/** The permission bits are part of the zip's bytes, so they are the same for every file on every machine. */
const FILE_MODE = 0o644;

/**
 * Writes the files in the given order, reading each source once. The hash of the zip is taken as it passes. That the
 * zip survives a crash is for the archive to see to, which copies it. On any failure the promise is rejected and what
 * was written stays for the caller to remove.
 */
export async function packZip(options: PackOptions): Promise<Packed> {
  const { target, files, folder, level } = options;
  const handle = await open(target, 'w');
  const archive = new ZipArchive({ zlib: { level, chunkSize: DEFLATED_BYTES } });
  const digest = new StreamingSha256();
  const failure = new AbortController();
  const written = pipeline(archive, async (chunks: AsyncIterable<Buffer>) => {
    // archiver hands out every field of a header as a chunk of its own, two or four bytes long.
    for await (const block of inBlocks(chunks, BLOCK)) {
      digest.update(block);
      for (const piece of toWrites(block)) writeFileSync(handle.fd, piece);
    }
  });
  // Handled here and again by the `await` below: a failure between two files must not go unheard.
  written.catch((error: unknown) => failure.abort(error));
  try {
    const packed: PackedFile[] = [];
    for (const file of files) {
      const source = file.source(packed);
      packed.push(await append(archive, source, `${folder}/${file.path}`, options, failure.signal));
    }
    // Its promise never settles after a failure; `written` does.
    archive.finalize().catch(() => undefined);
    await written;
    return { ...digest.finish(), files: packed };
  } catch (error) {
    archive.destroy(error instanceof Error ? error : undefined);
    await written.catch(() => undefined);
    throw failure.signal.aborted ? failure.signal.reason : error;
  } finally {
    await handle.close();
  }
}

/**
 * One file at a time: archiver pipes a source on without its `error` event, so a queue of them would wait for ever for
 * one that failed.
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
