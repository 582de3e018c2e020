import { createReadStream } from 'node:fs';
import { StreamingSha256 } from '../../../core/digest.ts';
import { outputOf, ProgramFailure } from './programs.ts';
import { ArchiveRefusal } from './refusal.ts';
import type { ReleaseIndex } from './release.ts';

/** A package as an index lists it. */
export interface ListedPackage {
  name: string;
  version: string;
  architecture: string;
  /** The size of the .deb file, in bytes. */
  size: number;
  /** The digest of the .deb file, hex. */
  sha256: string;
}

/** Debian's largest index has 60 MB. What it lists is in memory until all of it is known to be signed. */
const MAX_INDEX_BYTES = 2 ** 28;
const MAX_PARAGRAPH = 2 ** 20;

/**
 * The packages that an index lists. However it is compressed, its own text has to have the size and the digest that
 * were signed, so one rule is enough for all forms. It is unpacked by apt's own program, and no further than to that
 * size.
 * @param path the file, whose ending says how it is compressed.
 * @throws ArchiveRefusal
 */
export async function readIndexFile(path: string, signed: ReleaseIndex): Promise<ListedPackage[]> {
  if (signed.size > MAX_INDEX_BYTES) throw new ArchiveRefusal(`has ${signed.size} bytes, more than are read`);
  const packages: ListedPackage[] = [];
  let unreadable: string | null = null;
  const digest = new StreamingSha256();
  try {
    for await (const paragraph of paragraphsOf(digest.through(bounded(unpacked(path), signed.size)))) {
      const listed = toPackage(paragraph);
      if (listed === null) unreadable ??= paragraph;
      else packages.push(listed);
    }
  } catch (error) {
    if (error instanceof ProgramFailure)
      throw new ArchiveRefusal(`cannot be unpacked: ${error.message}`, { cause: error });
    throw error;
  }
  const found = digest.finish();
  if (found.bytes !== signed.size) throw new ArchiveRefusal(`has ${found.bytes} bytes, and ${signed.size} were signed`);
  if (found.sha256 !== signed.sha256)
    throw new ArchiveRefusal(`has the SHA-256 ${found.sha256}, and ${signed.sha256} was signed`);
  if (unreadable !== null)
    throw new ArchiveRefusal(
      `lists ${JSON.stringify(unreadable.slice(0, 80))} without a name, version, size or SHA-256`,
    );
  return packages;
}

function unpacked(path: string): AsyncIterable<Uint8Array> {
  if (path.endsWith('/Packages') || path.endsWith('_Packages')) return createReadStream(path);
  return outputOf('/usr/lib/apt/apt-helper', { args: ['cat-file', path], input: nothing() });
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

async function* bounded(pieces: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const piece of pieces) {
    bytes += piece.length;
    if (bytes > size) throw new ArchiveRefusal(`has more than the ${size} bytes that were signed`);
    yield piece;
  }
}

/** Paragraphs have an empty line between them. */
async function* paragraphsOf(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let rest = '';
  for await (const piece of pieces) {
    // Every field that is read here is of ASCII.
    const parts = (rest + Buffer.from(piece.buffer, piece.byteOffset, piece.length).toString('latin1')).split('\n\n');
    rest = parts.pop() ?? '';
    if (rest.length > MAX_PARAGRAPH) throw new ArchiveRefusal(`has a paragraph of more than ${MAX_PARAGRAPH} bytes`);
    yield* parts;
  }
  if (rest.trim() !== '') yield rest;
}

const FIELD = /^(Package|Version|Architecture|Size|SHA256):[ \t]*(\S+)[ \t]*$/gm;

function toPackage(paragraph: string): ListedPackage | null {
  const { Package, Version, Architecture, Size, SHA256 } = Object.fromEntries(
    [...paragraph.matchAll(FIELD)].map(([, name = '', value = '']) => [name, value]),
  );
  const isWhole =
    Package && Version && Architecture && /^\d{1,12}$/.test(Size ?? '') && /^[0-9a-f]{64}$/.test(SHA256 ?? '');
  if (!isWhole) return null;
  return { name: Package, version: Version, architecture: Architecture, size: Number(Size), sha256: SHA256 ?? '' };
}
