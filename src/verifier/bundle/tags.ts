import type { Bag } from './bag.ts';
import type { BundleFinding } from './bundle-finding.ts';
import { BAG_DECLARATION, BAG_INFO, MANIFEST, parseBagInfo, payloadOxum, TAG_MANIFEST } from './layout.ts';
import { parseManifest } from './manifest.ts';
import { whyUnsafe } from './path.ts';

const PAYLOAD = 'data/';

/** Results of one pass over all files. */
export interface Reading {
  /** SHA-256 in hex of every file that could be read. */
  digests: Map<string, string>;
  /** Content of the tag files that describe the bag. */
  tags: Map<string, Uint8Array>;
}

/** Compares the files as read with the bag's statements about itself. */
export function findInTags(bag: Bag, reading: Reading): BundleFinding[] {
  const paths = bag.files.map((member) => bag.pathOf(member));
  const payload = paths.filter((path) => path.startsWith(PAYLOAD));
  const tags = paths.filter((path) => !path.startsWith(PAYLOAD) && path !== TAG_MANIFEST);
  return [
    ...findInDeclaration(bag, reading),
    ...findInManifest(bag, reading, MANIFEST, payload),
    ...findInManifest(bag, reading, TAG_MANIFEST, tags),
    ...findInInfo(bag, reading),
  ];
}

/** Two lines in this order and form (RFC 8493 section 2.1.1). Version 0.97 preceded the RFC. */
const DECLARATION = /^BagIt-Version: (1\.0|0\.97)\r?\nTag-File-Character-Encoding: UTF-8(\r?\n)?$/;

function findInDeclaration(bag: Bag, reading: Reading): BundleFinding[] {
  if (!bag.has(BAG_DECLARATION)) return [missing(BAG_DECLARATION, 'so the folder is no BagIt bag')];
  const text = textOf(reading, BAG_DECLARATION);
  if (text === undefined || (text !== null && DECLARATION.test(text))) return [];
  return [malformed(BAG_DECLARATION, 'it is not a BagIt declaration of version 1.0 or 0.97')];
}

/** Checks a manifest (RFC 8493 section 3): every file that it names exists as stated, and no file is unnamed. */
function findInManifest(bag: Bag, { digests, tags }: Reading, name: string, paths: string[]): BundleFinding[] {
  if (!bag.has(name)) return [missing(name, 'so nothing in the bundle can be checked against it')];
  const text = textOf({ digests, tags }, name);
  if (text === undefined) return [];
  if (text === null) return [malformed(name, 'it is not UTF-8')];
  const manifest = parseManifest(text);
  const findings = manifest.flaws.map((flaw) => malformed(name, flaw));
  const expectedPaths = new Set(paths);
  for (const [path, expected] of manifest.digests) {
    const hazard = whyUnsafe(path);
    const actual = digests.get(path);
    const shown = JSON.stringify(path);
    if (hazard !== undefined) {
      findings.push({ code: 'bundle/unsafe-name', path, message: `${name} names ${shown}: ${hazard}` });
    } else if (!bag.has(path)) {
      findings.push({
        code: 'bundle/missing-file',
        path,
        expected,
        message: `${name} names ${shown}, which is missing`,
      });
    } else if (!expectedPaths.has(path)) {
      findings.push(malformed(name, `it names ${shown}, which belongs into the other manifest`));
    } else if (actual !== undefined && actual !== expected) {
      const message = `${shown} is not as ${name} states: its bytes were altered`;
      findings.push({ code: 'bundle/altered', path, expected, actual, message });
    }
  }
  for (const path of expectedPaths) {
    if (manifest.digests.has(path)) continue;
    const message = `${name} does not name ${JSON.stringify(path)}: it was added`;
    findings.push({ code: 'bundle/unexpected-file', path, message });
  }
  return findings;
}

/** Checks that `Payload-Oxum` (RFC 8493 section 2.2.2), if given, is given once and equals the payload. */
function findInInfo(bag: Bag, reading: Reading): BundleFinding[] {
  const text = textOf(reading, BAG_INFO);
  if (text === undefined || text === '') return [];
  const fields = text === null ? null : parseBagInfo(text);
  if (fields === null) return [malformed(BAG_INFO, 'it is not a list of "Label: value" lines in UTF-8')];
  const stated = fields.filter(([label]) => label.toLowerCase() === 'payload-oxum').map(([, value]) => value);
  const payload = bag.files.filter((member) => bag.pathOf(member).startsWith(PAYLOAD));
  const actual = payloadOxum(payload.map(({ entry }) => ({ bytes: entry.uncompressedSize })));
  if (stated.length > 1) return [malformed(BAG_INFO, 'it states Payload-Oxum more than once')];
  const [expected] = stated;
  if (expected === undefined || expected === actual) return [];
  const message = `${BAG_INFO} states a payload of ${JSON.stringify(expected)} (bytes.files), but it is ${actual}`;
  return [{ code: 'bundle/count-differs', path: BAG_INFO, expected, actual, message }];
}

/** Returns undefined for a missing or unreadable file, which is reported elsewhere, and null if it is not UTF-8. */
function textOf({ tags }: Reading, name: string): string | null | undefined {
  const bytes = tags.get(name);
  if (bytes === undefined) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

function missing(path: string, consequence: string): BundleFinding {
  return { code: 'bundle/missing-file', path, message: `the bundle has no ${path}, ${consequence}` };
}

function malformed(path: string, what: string): BundleFinding {
  return { code: 'bundle/malformed', path, message: `${path}: ${what}` };
}
