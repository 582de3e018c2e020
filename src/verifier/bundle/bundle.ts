import { Bag, MAX_MANIFEST_BYTES } from './bag.ts';
import type { BundleFinding } from './bundle-finding.ts';
import type { Container } from './container.ts';
import { type BundleLimits, DEFAULT_BUNDLE_LIMITS } from './content.ts';
import { checkIntegrity, type IntegrityObserver } from './integrity.ts';
import { identityOf, MANIFEST } from './layout.ts';
import { listZip } from './zip.ts';

interface BundleEntry {
  /** Path in the bundle's folder, e.g. `data/evidence.json`. */
  path: string;
  /** Size as the zip states it. */
  bytes: number;
}

/** Bundle whose statements are unproved until `checkIntegrity` has returned an empty list. */
export interface Bundle {
  /** Name of the single folder that holds everything; empty unless there is exactly one. */
  folder: string;
  entries: BundleEntry[];
  /** SHA-256 of the manifest in hex; null without a readable manifest. */
  identity: string | null;
  checkIntegrity(observer?: IntegrityObserver): Promise<BundleFinding[]>;
  /** @throws EvidenceError `not-found`, or `unreadable` if the file is damaged or longer than `maxBytes`. */
  readFile(path: string, maxBytes: number): Promise<Uint8Array>;
  /** Yields the bytes of a file in blocks. @throws EvidenceError like `readFile`, as soon as a fault is found. */
  blocksOf(path: string): AsyncIterable<Uint8Array>;
}

/**
 * Opens a bundle from an untrusted source: names are never used as paths on disk, and nothing that the limits forbid is
 * inflated.
 *
 * @throws EvidenceError `unreadable` if it is not a complete zip file.
 */
export async function readBundle(container: Container, limits: Partial<BundleLimits> = {}): Promise<Bundle> {
  const allLimits = { ...DEFAULT_BUNDLE_LIMITS, ...limits };
  const bag = new Bag(await listZip(container, allLimits.maxEntries), allLimits);
  const manifest = await bag.readIfSound(MANIFEST, MAX_MANIFEST_BYTES);
  return {
    folder: bag.folder,
    entries: bag.files.map((member) => ({ path: bag.pathOf(member), bytes: member.entry.uncompressedSize })),
    identity: manifest === null ? null : identityOf(manifest),
    checkIntegrity: (observer = {}) => checkIntegrity(bag, observer),
    readFile: (file, maxBytes) => bag.readFile(file, maxBytes),
    blocksOf: (file) => bag.content(bag.member(file)),
  };
}
