import { createReadStream } from 'node:fs';
import { StreamingSha256 } from '../../../core/digest.ts';
import { ArchiveRefusal, outputOf, ProgramFailure } from './programs.ts';
import type { ListedPackage } from './repository.ts';

/** Release file: https://wiki.debian.org/DebianRepository/Format, "Release" files. */
export interface Release {
  /** Common name such as `Debian bookworm-security`. */
  archive: string;
  /** Date in the file. */
  date: string | null;
  /** Uncompressed package lists for machines, with paths relative to the Release file. */
  indexes: ReleaseIndex[];
}

export interface ReleaseIndex {
  /** Name such as `main/binary-amd64/Packages`. */
  name: string;
  sha256: string;
  size: number;
}

/** Path that stays below its folder. */
const SAFE_NAME = /^(?:[A-Za-z0-9+_~-][A-Za-z0-9.+_~-]*\/)*Packages$/;
const MAX_FIELD = 200;

/** @throws ArchiveRefusal if the text is not a Release file, or contradicts itself about a name. */
export function readRelease(text: string): Release {
  const fields = fieldsOf(text);
  const listed = fields.get('sha256');
  if (listed === undefined) throw new ArchiveRefusal('lists no SHA-256 digests');
  const short = (name: string) => fields.get(name)?.slice(0, MAX_FIELD);
  const names = [short('origin') ?? short('label'), short('codename') ?? short('suite')];
  const archive = names.filter((name) => name !== undefined).join(' ');
  return {
    archive: archive === '' ? 'unnamed archive' : archive,
    date: short('date') ?? null,
    indexes: indexesIn(listed),
  };
}

/** Returns the fields of a single paragraph of a control file (deb822(5)). */
function fieldsOf(text: string): Map<string, string> {
  const fields = new Map<string, string>();
  let last = '';
  for (const line of text.trimEnd().split('\n')) {
    if (/^[ \t]/.test(line) && last !== '') {
      fields.set(last, `${fields.get(last)}\n${line.trim()}`);
      continue;
    }
    const [, name = '', value = ''] = /^([!-9;-~]+):(.*)$/.exec(line) ?? [];
    last = name.toLowerCase();
    if (last === '') throw new ArchiveRefusal('contains a line that is not a field');
    if (fields.has(last)) throw new ArchiveRefusal(`has the field ${name} twice`);
    fields.set(last, value.trim());
  }
  return fields;
}

function indexesIn(listed: string): ReleaseIndex[] {
  const indexes = new Map<string, ReleaseIndex>();
  for (const line of listed.split('\n').filter((each) => each !== '')) {
    const [, sha256 = '', size = '', name = ''] = /^([0-9a-f]{64}) +(\d{1,12}) +(\S+)$/.exec(line) ?? [];
    if (name === '')
      throw new ArchiveRefusal(
        `contains the line "${line.slice(0, MAX_FIELD)}" instead of a digest, a size and a name`,
      );
    if (name !== 'Packages' && !name.endsWith('/Packages')) continue;
    if (!SAFE_NAME.test(name))
      throw new ArchiveRefusal(`lists "${name.slice(0, MAX_FIELD)}", which leads out of its folder`);
    const before = indexes.get(name);
    if (before !== undefined && before.sha256 !== sha256) throw new ArchiveRefusal(`lists ${name} with two digests`);
    indexes.set(name, { name, sha256, size: Number(size) });
  }
  return [...indexes.values()];
}

/**
 * Maximum size of an index; Debian's largest has 60 MB. Its packages are held in memory until the whole index is
 * verified.
 */
const MAX_INDEX_BYTES = 2 ** 28;
const MAX_PARAGRAPH = 2 ** 20;

/**
 * Returns the packages that an index lists. Whatever the compression, the uncompressed text must have the signed size
 * and digest, so one rule covers all forms. apt's own program decompresses the index, limited to the signed size.
 * @param path the file, whose extension determines the compression.
 * @throws ArchiveRefusal
 */
export async function readIndexFile(path: string, signed: ReleaseIndex): Promise<ListedPackage[]> {
  if (signed.size > MAX_INDEX_BYTES) throw new ArchiveRefusal(`has ${signed.size} bytes, more than the limit`);
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
  if (found.bytes !== signed.size) throw new ArchiveRefusal(`has ${found.bytes} bytes, but ${signed.size} were signed`);
  if (found.sha256 !== signed.sha256)
    throw new ArchiveRefusal(`has the SHA-256 ${found.sha256}, but ${signed.sha256} was signed`);
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

/** Yields the paragraphs, which are separated by empty lines. */
async function* paragraphsOf(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let rest = '';
  for await (const piece of pieces) {
    // Decodes bytes as latin1, because every field that is read is ASCII.
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
