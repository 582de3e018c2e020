import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { extract, type Header } from 'tar-stream';
import { StreamingSha256 } from '../../../core/digest.ts';
import { messageOf } from '../../../core/errors.ts';
import { standingPath } from './known-files.ts';
import { ArchiveRefusal, outputOf } from './programs.ts';
import type { Attributes, PackagedFile } from './repository.ts';

/** Signed digest of a .deb file. */
export interface SignedDigest {
  size: number;
  sha256: string;
}

/** Limits for one package. Debian's largest has 5 GB and 100,000 files. */
interface PackageLimits {
  bytes: number;
  entries: number;
  /** Total bytes of all paths. */
  pathBytes: number;
}

export const PACKAGE_LIMITS: PackageLimits = { bytes: 32 * 2 ** 30, entries: 500_000, pathBytes: 64 * 2 ** 20 };

const READ_BYTES = 2 ** 18;

/** Option to decode names byte by byte, which the types of the library lack. */
const BYTES_AS_SIGNS = { filenameEncoding: 'latin1' } as object;

/** @throws Error of the file system. */
export async function digestOfFile(path: string): Promise<SignedDigest> {
  const digest = new StreamingSha256();
  for await (const piece of createReadStream(path, { highWaterMark: READ_BYTES })) digest.update(piece as Uint8Array);
  const { sha256, bytes } = digest.finish();
  return { sha256, size: bytes };
}

/**
 * Returns the regular files of a package. dpkg-deb unpacks the package to a stream, and nothing is written to disk.
 * Links are resolved by name, only within the package. The bytes read are also hashed, so a file that changes in the
 * meantime is refused.
 * @throws ArchiveRefusal
 */
export async function filesOfPackage(
  path: string,
  signed: SignedDigest,
  limits: PackageLimits = PACKAGE_LIMITS,
): Promise<PackagedFile[]> {
  const digest = new StreamingSha256();
  const input = digest.through(createReadStream(path, { highWaterMark: READ_BYTES }) as AsyncIterable<Uint8Array>);
  const contents = new Contents(limits);
  const tar = extract(BYTES_AS_SIGNS);
  const unpacked = outputOf('dpkg-deb', { args: ['--fsys-tarfile', '-'], input });
  const written = pipeline(unpacked, tar as unknown as NodeJS.WritableStream);
  // Awaited below; an earlier failure of the entries must not leave an unhandled rejection.
  written.catch(() => {});
  try {
    for await (const entry of tar) await contents.add(entry.header, entry as AsyncIterable<Uint8Array>);
    await written;
  } catch (error) {
    if (error instanceof ArchiveRefusal) throw error;
    // The failure of the writer is more specific than that of the entries.
    const cause = await written.then(() => error).catch((first) => first);
    throw new ArchiveRefusal(`cannot be opened: ${messageOf(cause)}`, { cause });
  }
  const { sha256, bytes } = digest.finish();
  if (sha256 !== signed.sha256 || bytes !== signed.size) throw new ArchiveRefusal('changed while it was read');
  return contents.files;
}

/** Files of one package, collected from its entries. */
class Contents {
  readonly files: PackagedFile[] = [];
  readonly #limits: PackageLimits;
  readonly #byName = new Map<string, PackagedFile | null>();
  #entries = 0;
  #bytes = 0;
  #pathBytes = 0;

  constructor(limits: PackageLimits) {
    this.#limits = limits;
  }

  async add(header: Header, content: AsyncIterable<Uint8Array>): Promise<void> {
    this.#count(header);
    const name = nameIn(header.name);
    if (this.#byName.has(name) && header.type !== 'directory') throw new ArchiveRefusal(`contains ${show(name)} twice`);
    this.#byName.set(name, null);
    if (header.type === 'file' || header.type === 'contiguous-file')
      return this.#addFile(name, header, await digestOfEntry(content));
    for await (const _ of content);
    if (header.type === 'link') this.#addLink(name, header);
  }

  #count({ name, size, type, pax }: Header): void {
    this.#entries += 1;
    this.#bytes += size;
    this.#pathBytes += name.length;
    const { entries, bytes, pathBytes } = this.#limits;
    if (this.#bytes > bytes) throw new ArchiveRefusal(`has more than ${bytes} bytes when unpacked`);
    if (this.#entries > entries) throw new ArchiveRefusal(`has more than ${entries} entries`);
    if (this.#pathBytes > pathBytes) throw new ArchiveRefusal(`has paths of more than ${pathBytes} bytes`);
    // dpkg itself supports neither.
    if (!type || pax) throw new ArchiveRefusal(`contains an entry of a type that dpkg does not support: ${show(name)}`);
  }

  #addFile(name: string, { mode, uid, gid }: Attributes, sha256: string): void {
    const path = standingPath(`/${Buffer.from(name, 'latin1').toString('utf8')}`);
    const file = { path, sha256, mode: mode & 0o7777, uid, gid };
    this.#byName.set(name, file);
    // Omits a name that is not UTF-8: Debian does not allow such names (policy 10.1).
    if (Buffer.from(file.path).equals(Buffer.from(standingPath(`/${name}`), 'latin1'))) this.files.push(file);
  }

  /** Adds a hard link, which is another name of an earlier file. */
  #addLink(name: string, { linkname }: Header): void {
    const file = this.#byName.get(nameIn(linkname ?? ''));
    if (file === null || file === undefined)
      throw new ArchiveRefusal(`contains the link ${show(name)}, whose target is not in the package`);
    this.#addFile(name, file, file.sha256);
  }
}

/** Returns the name of an entry as a path from the root. @throws ArchiveRefusal if the path leads outside. */
function nameIn(name: string): string {
  const path = name.replace(/^\.\//, '').replace(/\/$/, '');
  const leadsElsewhere = path.split('/').some((part) => part === '' || part === '.' || part === '..');
  // Name of the root itself.
  if (path === '' || path === '.') return '.';
  if (leadsElsewhere || path.includes('\0'))
    throw new ArchiveRefusal(`contains the path ${show(name)}, which leaves its folder`);
  return path;
}

function show(name: string): string {
  return JSON.stringify(Buffer.from(name, 'latin1').toString('utf8').slice(0, 200));
}

async function digestOfEntry(content: AsyncIterable<Uint8Array>): Promise<string> {
  const digest = new StreamingSha256();
  for await (const piece of content) digest.update(piece);
  return digest.finish().sha256;
}
