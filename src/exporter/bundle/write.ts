import type { KeyObject } from 'node:crypto';
import { rename, rm } from 'node:fs/promises';
import { EvidenceError, messageOf } from '../../core/errors.ts';
import type { BundleFinding } from '../../verifier/bundle/bundle-finding.ts';
import type { BundleLimits } from '../../verifier/bundle/content.ts';
import { type BundleHolds, findInFiles } from '../../verifier/bundle/files.ts';
import {
  BAG_DECLARATION,
  BAG_DECLARATION_TEXT,
  BAG_INFO,
  BINDING,
  bagInfoText,
  identityOf,
  MANIFEST,
  payloadOxum,
  TAG_MANIFEST,
} from '../../verifier/bundle/layout.ts';
import { manifestText } from '../../verifier/bundle/manifest.ts';
import { collisionKey, comparePaths, isPortablePath } from '../../verifier/bundle/path.ts';
import { openBundle } from '../../verifier/bundle/read.ts';
import { bindingText } from './binding.ts';
import { type FileToPack, type Packed, type PackedFile, packZip } from './pack.ts';
import { contentSource, type OpenSource, openSources, type PayloadSource } from './source.ts';

export interface BundleOptions {
  /** Path of the zip. It is created or replaced only after the bundle was reread and found intact. */
  target: string;
  /** Folder in the zip; see `slugOf`. */
  slug: string;
  /** Fields of `bag-info.txt`, in order. `Bagging-Date` (from `date`) and `Payload-Oxum` are added. */
  bagInfo: readonly (readonly [label: string, value: string])[];
  /** RFC 3339 date of every entry, so that the bytes do not depend on the clock. */
  date: string;
  tagFiles: readonly { name: string; content: string | Uint8Array }[];
  /** Subject of the bundle; a stream by default. */
  holds?: BundleHolds;
  /** Key of the run and place of the bundle in the archive. Omitted if the bundle will never be recovered. */
  binding?: { key: KeyObject; place: string };
  /** Payload files; their paths begin with `data/`. */
  payload: readonly PayloadSource[];
  /** Compression level, 0 to 9. The default of 1 produces 6 % larger zips than level 6 in half the time. */
  compressionLevel?: number;
}

export interface WrittenBundle {
  /** Size of the zip. */
  bytes: number;
  /** Digest of the zip, hex. */
  sha256: string;
  /** SHA-256 of the manifest, hex. */
  identity: string;
  /** All files in the bundle's folder, sorted by path. */
  files: PackedFile[];
}

/**
 * Writes a BagIt bag (RFC 8493) as a zip, then rereads the zip and hashes every file again. The same options and the
 * same zlib produce the same bytes; `identity` is the same with any zlib.
 *
 * @throws EvidenceError `not-found` for a missing source; `unreadable` for a source that changed or does not match its
 * stated `sha256` and `bytes`; `archive` if the zip cannot be written. The sources are left as they are, and `target`
 * is not created.
 */
export async function writeBundle(options: BundleOptions): Promise<WrittenBundle> {
  checkNames(options);
  const sources = await openSources(options.payload);
  const draft = `${options.target}.part`;
  try {
    const written = await draftBundle(options, draft, filesOf(options, sources));
    await rename(draft, options.target);
    return written;
  } catch (error) {
    await rm(draft, { force: true });
    if (error instanceof EvidenceError || error instanceof TypeError) throw error;
    throw new EvidenceError('archive', `cannot write the bundle ${options.target}: ${messageOf(error)}`, {
      nextStep: { before: 'Archived bundles are kept. Check free space and write permission there, then' },
      cause: error,
    });
  } finally {
    await Promise.all(sources.map((source) => source.close()));
  }
}

async function draftBundle(options: BundleOptions, draft: string, files: FileToPack[]): Promise<WrittenBundle> {
  const { slug: folder, compressionLevel: level = 1 } = options;
  const date = new Date(options.date);
  const pack = (stored: ReadonlySet<string>) => packZip({ target: draft, folder, files, date, level, stored });
  // The default limits protect against hostile input; files that this run received are limited only by the disk.
  let packed = await pack(new Set());
  const limits = { maxFileBytes: Number.MAX_SAFE_INTEGER, holds: options.holds ?? 'stream' };
  let { findings, identity } = await reread(draft, limits);
  const bombs = findings.filter(({ code }) => code === 'bundle/too-large');
  if (bombs.length > 0) {
    // The service may send data that compresses like a zip bomb. Stored uncompressed, such files pass every reader's
    // limits.
    packed = await pack(new Set(bombs.map(({ path }) => path)));
    ({ findings, identity } = await reread(draft, limits));
  }
  const [finding] = findings;
  if (finding !== undefined) throw notAsAnnounced(finding, findings.length);
  if (identity !== identityOf(manifestOf(packed.files))) {
    throw new EvidenceError('unreadable', 'the manifest read back from the bundle differs from the one written');
  }
  return { bytes: packed.bytes, sha256: packed.sha256, identity, files: sortedFiles(packed) };
}

async function reread(path: string, limits: Partial<BundleLimits>) {
  const bundle = await openBundle(path, limits);
  try {
    return { findings: await bundle.checkIntegrity(), identity: bundle.identity };
  } finally {
    await bundle.close();
  }
}

/** Returns the files sorted by name, as archivers list a folder. Manifests come after the files that they list. */
function filesOf(options: BundleOptions, payload: readonly OpenSource[]): FileToPack[] {
  const tags = [
    ...options.tagFiles.map(({ name, content }) => contentSource(name, content)),
    contentSource(BAG_DECLARATION, BAG_DECLARATION_TEXT),
    contentSource(BAG_INFO, bagInfoText(infoFields(options, payload))),
  ];
  const manifest = (packed: readonly PackedFile[]) => contentSource(MANIFEST, manifestOf(packed));
  const bindings = [options.binding ?? []].flat().map(({ key, place }) => ({
    path: BINDING,
    source: (packed: readonly PackedFile[]) =>
      contentSource(BINDING, bindingText(key, place, manifestOfTags([manifest(packed), ...tags]))),
  }));
  const tagManifest = (packed: readonly PackedFile[]) => {
    const bound = bindings.map(({ source }) => source(packed));
    return contentSource(TAG_MANIFEST, manifestOfTags([manifest(packed), ...tags, ...bound]));
  };
  const files: FileToPack[] = [
    ...[...tags, ...payload].map((source) => ({ path: source.path, source: () => source })),
    { path: MANIFEST, source: manifest },
    ...bindings,
    { path: TAG_MANIFEST, source: tagManifest },
  ];
  return files.sort((one, other) => comparePaths(one.path, other.path));
}

function manifestOfTags(tags: readonly OpenSource[]): string {
  return manifestText(tags.map(({ path, sha256 = '' }) => ({ path, sha256 })));
}

const PAYLOAD = 'data/';

function manifestOf(packed: readonly PackedFile[]): string {
  return manifestText(packed.filter(({ path }) => path.startsWith(PAYLOAD)));
}

function infoFields({ bagInfo, date }: BundleOptions, payload: readonly OpenSource[]) {
  return [
    ...bagInfo,
    ['Bagging-Date', new Date(date).toISOString().slice(0, 10)],
    ['Payload-Oxum', payloadOxum(payload)],
  ] as const;
}

function sortedFiles({ files }: Packed): PackedFile[] {
  return files.toSorted((one, other) => comparePaths(one.path, other.path));
}

/** Throws TypeError for invalid names: the program chooses them, so a bad one is a defect, not an operator's error. */
function checkNames({ slug, payload, tagFiles, bagInfo, date, holds }: BundleOptions): void {
  const own = [BAG_DECLARATION, BAG_INFO, MANIFEST, BINDING, TAG_MANIFEST];
  const paths = [...own, ...tagFiles.map(({ name }) => name), ...payload.map(({ path }) => path)];
  if (slug.includes('/') || !isPortablePath(slug)) throw new TypeError('the slug is no portable folder name');
  if (!paths.every(isPortablePath)) throw new TypeError('a file name of the bundle is not portable');
  if (new Set(paths.map(collisionKey)).size !== paths.length)
    throw new TypeError('two files of the bundle have one name');
  const [finding] = findInFiles(paths, holds);
  if (finding !== undefined) throw new TypeError(finding.message);
  if (!payload.every(({ path }) => path.startsWith(PAYLOAD))) throw new TypeError('a payload path begins with data/');
  if (tagFiles.some(({ name }) => name.includes('/')))
    throw new TypeError('a tag file lies beside data/, in no folder');
  if (bagInfo.some(([label]) => /^(payload-oxum|bagging-date)$/i.test(label))) {
    throw new TypeError('Payload-Oxum and Bagging-Date are derived, not given');
  }
  if (Number.isNaN(Date.parse(date))) throw new TypeError('the date of a bundle is RFC 3339');
}

function notAsAnnounced(finding: BundleFinding, count: number): EvidenceError {
  const others = count > 1 ? `, and ${count - 1} more findings` : '';
  return new EvidenceError(
    'unreadable',
    `the bundle read back differs from what was written: ${finding.message}${others}`,
    {
      nextStep: { after: ' to download the files again' },
    },
  );
}
