import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { EvidenceError } from '../../core/errors.ts';
import { readRange } from '../../verifier/bundle/read.ts';

/** File to store under `data/` of a bundle: on disk, or in memory. */
export type PayloadSource = { path: string } & (
  | {
      file: string;
      /** Hex digest from the download. If given, packing does not hash the file; rereading the bundle does. */
      sha256?: string;
      bytes?: number;
    }
  | { content: string | Uint8Array }
);

/** Open source with a fixed size. */
export interface OpenSource {
  path: string;
  bytes: number;
  /** Digest in hex; undefined for a file on disk whose digest was not given, which packing then computes. */
  sha256: string | undefined;
  /**
   * Returns the whole content, or blocks of exactly `bytes` in total. Fails with `unreadable` if the file has changed.
   */
  read(): Uint8Array | AsyncIterable<Buffer>;
  close(): Promise<void>;
}

/** Maximum number of files held open at once. Further files are closed and opened again when they are packed. */
const MAX_OPEN = 200;

/**
 * Opens every source before the first byte is written, so that a bundle that cannot be finished is never started.
 *
 * @throws EvidenceError `not-found` for a missing file, `unreadable` for a file whose length is not the stated one.
 */
export async function openSources(sources: readonly PayloadSource[]): Promise<OpenSource[]> {
  const opened: OpenSource[] = [];
  try {
    for (const [index, source] of sources.entries()) {
      if (!('file' in source)) opened.push(contentSource(source.path, source.content));
      else {
        const file = await openFile(source);
        opened.push(index < MAX_OPEN ? file : await asReopened(source, file));
      }
    }
  } catch (error) {
    await Promise.all(opened.map((source) => source.close()));
    throw error;
  }
  return opened;
}

export function contentSource(path: string, content: string | Uint8Array): OpenSource {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return { path, bytes: bytes.length, sha256, read: () => bytes, close: async () => undefined };
}

type FileSource = Extract<PayloadSource, { file: string }>;

async function openFile(source: FileSource): Promise<OpenSource> {
  const { path, file, sha256 } = source;
  const handle = await open(file, 'r').catch((error: NodeJS.ErrnoException) => {
    const code = error.code === 'ENOENT' ? 'not-found' : 'unreadable';
    throw new EvidenceError(code, `cannot open ${file} for ${path} of the bundle: ${error.message}`, { cause: error });
  });
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) throw new EvidenceError('unreadable', `${file}, for ${path} of the bundle, is not a file`);
    if (source.bytes !== undefined && source.bytes !== stats.size) throw changed(source, source.bytes, stats.size);
    const read = () => unchangedContent(source, handle, stats.size);
    return { path, bytes: stats.size, sha256, read, close: () => handle.close() };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Closes an open source; its `read` opens the file again. */
async function asReopened(source: FileSource, open: OpenSource): Promise<OpenSource> {
  await open.close();
  const read = async function* () {
    const again = await openFile({ ...source, bytes: open.bytes });
    try {
      const content = again.read();
      if (!(content instanceof Uint8Array)) yield* content;
    } finally {
      await again.close();
    }
  };
  return { ...open, read, close: async () => undefined };
}

/**
 * Yields the content and fails if the file grew or shrank since it was opened: `Payload-Oxum` is written before the
 * payload, and states the size.
 */
async function* unchangedContent(source: FileSource, handle: FileHandle, size: number): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const block of readRange(handle, 0, size)) {
    bytes += block.length;
    yield block;
  }
  const now = bytes < size ? bytes : (await handle.stat()).size;
  if (now !== size) throw changed(source, size, now);
}

function changed({ path, file }: FileSource, expected: number, actual: number): EvidenceError {
  return new EvidenceError(
    'unreadable',
    `${file}, for ${path} of the bundle, has ${actual} bytes instead of ${expected}; it was changed after download`,
    { nextStep: { after: ' to download it again' } },
  );
}
