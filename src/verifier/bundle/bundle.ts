import { Bag, MAX_MANIFEST_BYTES } from './bag.ts';
import type { BundleFinding } from './bundle-finding.ts';
import type { Container } from './container.ts';
import { type BundleLimits, DEFAULT_BUNDLE_LIMITS } from './content.ts';
import { checkIntegrity, type IntegrityObserver } from './integrity.ts';
import { identityOf, MANIFEST } from './layout.ts';
import { listZip } from './zip.ts';

interface BundleEntry {
  /** Within the bundle's folder, e.g. `data/evidence.json`. */
  path: string;
  /** As the zip states it. */
  bytes: number;
}

/** A bundle. Nothing it says is proved before `checkIntegrity` has returned an empty list. */
export interface Bundle {
  /** Name of the one folder everything lies in; empty where there is not exactly one. */
  folder: string;
  entries: BundleEntry[];
  /** SHA-256 of the manifest in hex; null where there is no manifest that can be read. */
  identity: string | null;
  checkIntegrity(observer?: IntegrityObserver): Promise<BundleFinding[]>;
  /** @throws EvidenceError `not-found`, or `unreadable` when damaged or longer than `maxBytes`. */
  readFile(path: string, maxBytes: number): Promise<Uint8Array>;
  /** The bytes of a file, in blocks. @throws EvidenceError as `readFile`, where that is found. */
  blocksOf(path: string): AsyncIterable<Uint8Array>;
}

/**
 * Reads a bundle by anyone, so a hostile one too: names are never used as paths on disk, and nothing is inflated that
 * the limits forbid.
 *
 * @throws EvidenceError `unreadable` when it is not a complete zip file.
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
