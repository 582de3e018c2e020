import { createHash } from 'node:crypto';
import { joinBytes } from '../../core/bytes.ts';
import { type Bag, MAX_MANIFEST_BYTES } from './bag.ts';
import { type BundleFinding, DamagedFile } from './bundle-finding.ts';
import { findInType } from './content.ts';
import { findInFiles } from './files.ts';
import { BAG_DECLARATION, BAG_INFO, MANIFEST, TAG_MANIFEST } from './layout.ts';
import { locateData } from './local.ts';
import { collisionKey, whyUnsafe } from './path.ts';
import { findInTags, type Reading } from './tags.ts';
import type { Member } from './zip.ts';

/**
 * Receives every byte while it is hashed, so that a chain is walked without a second read. The bytes are proved only by
 * the list that `checkIntegrity` returns at the end. An error thrown here ends the check.
 */
export interface IntegrityObserver {
  /** Receives the blocks of each file in order, and may keep them. Awaited before the next block is read. */
  onChunk?(path: string, chunk: Uint8Array): void | Promise<void>;
  /** Called after the last block; not called for a file that cannot be read to its end. */
  onEnd?(path: string, file: FileDigest): void | Promise<void>;
}

/** Length and digest of a file as read. */
export interface FileDigest {
  bytes: number;
  /** Hex. */
  sha256: string;
}

const KEPT = new Set([BAG_DECLARATION, BAG_INFO, MANIFEST, TAG_MANIFEST]);

/**
 * Checks the bundle in one pass: the zip as a container, the closed set of names, and every file against its manifest
 * (complete and valid by RFC 8493 section 3). Returns all findings, not just the first. An empty list means that the
 * bundle is exactly what its manifests state, which says nothing about who wrote them: compare `identity` for that.
 */
export async function checkIntegrity(bag: Bag, observer: IntegrityObserver): Promise<BundleFinding[]> {
  const names = findInNames(bag);
  const findings = [...findInContainer(bag), ...names.findings];
  const reading: Reading = { digests: new Map(), tags: new Map() };
  for (const member of bag.zip.members) {
    if (names.refused.has(member)) continue;
    try {
      if (member.name.endsWith('/')) await checkFolder(bag, member);
      else await readMember(bag, member, reading, observer);
    } catch (error) {
      if (!(error instanceof DamagedFile)) throw error;
      findings.push(error.finding);
    }
  }
  findings.push(...findInTags(bag, reading));
  // A file that no bundle has is usually in no manifest either: one finding is enough.
  const known = new Set(findings.map(({ code, path }) => `${code} ${path}`));
  return [...findings, ...badFiles(bag, names.refused).filter(({ code, path }) => !known.has(`${code} ${path}`))];
}

function badFiles(bag: Bag, refused: ReadonlySet<Member>): BundleFinding[] {
  if (bag.folder === '') return [];
  const named = bag.zip.members.filter((member) => !refused.has(member));
  return findInFiles(
    named.map((member) => bag.pathOf(member)),
    bag.limits.holds,
  );
}

function findInContainer({ zip }: Bag): BundleFinding[] {
  const { end, members } = zip;
  const findings: BundleFinding[] = end.flaws.map((flaw) => ({
    code: 'bundle/inconsistent-zip',
    path: '',
    message: `the zip contradicts itself: ${flaw}`,
  }));
  const hidden = (message: string) => findings.push({ code: 'bundle/hidden-bytes', path: '', message });
  const first = members[0]?.entry.start ?? end.directoryStart;
  if (first !== 0) hidden(`the ${first} bytes before the first file belong to no file`);
  const between = end.start - end.directoryStart - end.directoryBytes;
  if (between !== 0) hidden(`${between} bytes after the zip's directory belong to no file`);
  for (const { entry, name } of members) {
    if (entry.commentLength > 0) hidden(`the zip carries a comment for ${JSON.stringify(name)}`);
  }
  return findings;
}

async function checkFolder(bag: Bag, member: Member): Promise<void> {
  const path = bag.pathOf(member);
  const finding = findInType(member, path);
  if (finding !== undefined) throw new DamagedFile(finding);
  await locateData(bag.zip, member, path);
}

async function readMember(bag: Bag, member: Member, reading: Reading, observer: IntegrityObserver): Promise<void> {
  const path = bag.pathOf(member);
  const isKept = KEPT.has(path);
  if (isKept && member.entry.uncompressedSize > MAX_MANIFEST_BYTES) {
    const message = `${path} has more than the ${MAX_MANIFEST_BYTES} bytes allowed for it`;
    throw new DamagedFile({ code: 'bundle/too-large', path, message });
  }
  const hash = createHash('sha256');
  const kept: Uint8Array[] = [];
  let bytes = 0;
  for await (const block of bag.content(member)) {
    hash.update(block);
    bytes += block.length;
    if (isKept) kept.push(block);
    await observer.onChunk?.(path, block);
  }
  const sha256 = hash.digest('hex');
  reading.digests.set(path, sha256);
  if (isKept) reading.tags.set(path, joinBytes(kept));
  await observer.onEnd?.(path, { bytes, sha256 });
}

/** Findings about the names in a zip, and the members that must not be read because of them. */
interface NameFindings {
  findings: BundleFinding[];
  refused: Set<Member>;
}

/** Checks names as an unzip program must on any system. */
function findInNames(bag: Bag): NameFindings {
  const findings: BundleFinding[] = [];
  const refused = new Set<Member>();
  const taken = takenAsFolder(bag.zip.members.filter(({ name }) => whyUnsafe(name) === undefined));
  for (const member of bag.zip.members) {
    const { name } = member;
    const refuse = (code: BundleFinding['code'], reason: string) => {
      findings.push({ code, path: bag.pathOf(member), message: `${JSON.stringify(name)} in the zip: ${reason}` });
      refused.add(member);
    };
    const hazard = member.nameFlaw ?? whyUnsafe(name);
    if (hazard !== undefined) {
      refuse('bundle/unsafe-name', hazard);
      continue;
    }
    const key = collisionKey(name.replace(/\/$/, ''));
    const earlier = taken.get(key);
    if (earlier === undefined) taken.set(key, name);
    else if (earlier !== name || !name.endsWith('/')) {
      refuse('bundle/name-collision', `on some disks it is the same as ${JSON.stringify(earlier)}`);
    }
  }
  if (bag.folder === '' && bag.zip.members.length > 0) {
    const message = 'the files do not lie in one folder, as those of a bundle do';
    findings.push({ code: 'bundle/several-folders', path: '', message });
  }
  return { findings, refused };
}

/** Returns every folder that holds a file, to detect a file with the name of a folder. */
function takenAsFolder(members: readonly Member[]): Map<string, string> {
  const taken = new Map<string, string>();
  for (const { name } of members) {
    for (let slash = name.indexOf('/'); slash !== -1; slash = name.indexOf('/', slash + 1)) {
      const folder = name.slice(0, slash + 1);
      const key = collisionKey(folder.slice(0, -1));
      if (!taken.has(key)) taken.set(key, folder);
    }
  }
  return taken;
}
