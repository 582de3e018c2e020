import { EvidenceError } from '../../core/errors.ts';
import { collect } from './container.ts';
import { type BundleLimits, contentOf } from './content.ts';
import { whyUnsafe } from './path.ts';
import type { Member, Zip } from './zip.ts';

/** Maximum size of a manifest, which is held in memory; far more lines than `maxEntries` needs. */
export const MAX_MANIFEST_BYTES = 32 * 1024 * 1024;

/** Members of a zip as the files of one bag. */
export class Bag {
  readonly zip: Zip;
  readonly limits: BundleLimits;
  readonly folder: string;
  readonly files: Member[];
  /** First file of each path; `checkIntegrity` reports the others. */
  readonly #byPath = new Map<string, Member>();

  constructor(zip: Zip, limits: BundleLimits) {
    this.zip = zip;
    this.limits = limits;
    const folders = new Set(
      zip.members.map(({ name }) => (name.includes('/') ? name.slice(0, name.indexOf('/')) : '')),
    );
    const [folder = ''] = folders;
    this.folder = folders.size === 1 && whyUnsafe(`${folder}/`) === undefined ? folder : '';
    this.files = zip.members.filter(({ name }) => !name.endsWith('/'));
    for (const member of this.files.toReversed()) this.#byPath.set(this.pathOf(member), member);
  }

  pathOf({ name }: Member): string {
    return this.folder === '' ? name : name.slice(this.folder.length + 1);
  }

  has(path: string): boolean {
    return this.#byPath.has(path);
  }

  member(path: string): Member {
    const member = this.#byPath.get(path);
    if (member === undefined) throw new EvidenceError('not-found', `the bundle has no file ${JSON.stringify(path)}`);
    return member;
  }

  content(member: Member): AsyncGenerator<Uint8Array, void, undefined> {
    return contentOf(this.zip, member, this.pathOf(member), this.limits);
  }

  async readFile(path: string, maxBytes: number): Promise<Uint8Array> {
    const member = this.member(path);
    if (member.entry.uncompressedSize > maxBytes) {
      throw new EvidenceError('unreadable', `${path} has more than the ${maxBytes} bytes that are read at once`);
    }
    return collect(this.content(member));
  }

  /** Returns null for a missing or damaged file, which `checkIntegrity` reports. */
  async readIfSound(path: string, maxBytes: number): Promise<Uint8Array | null> {
    if (!this.has(path)) return null;
    return this.readFile(path, maxBytes).catch((error: unknown) => {
      if (error instanceof EvidenceError) return null;
      throw error;
    });
  }
}
