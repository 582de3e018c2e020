import { sha256 } from '../../core/digest.ts';

/** `PARTIAL`: the bundle lacks at least one requested form. */
export type BagStatus = 'COMPLETE' | 'PARTIAL';

/** Names of the tag files of a bag (RFC 8493 sections 2.1.1, 2.1.3, 2.2.1 and 2.2.2). */
export const BAG_DECLARATION = 'bagit.txt';
export const BAG_INFO = 'bag-info.txt';
export const MANIFEST = 'manifest-sha256.txt';
export const TAG_MANIFEST = 'tagmanifest-sha256.txt';

/** Tag file that names the run in which the bundle was made; see `bindingText`. */
export const BINDING = 'run-binding.txt';

/** Content of `bagit.txt` (RFC 8493 section 2.1.1). */
export const BAG_DECLARATION_TEXT = 'BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n';

const MAX_READABLE = 60;

/** Device names of Windows, which treats `con.anything` like `con`. */
const WINDOWS_DEVICE = /^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)/;

/**
 * Returns a name for the stream that is valid on any disk: the readable part of its id, then 8 hex digits of the id's
 * SHA-256. Ids that differ only in letter case, spaces or other scripts differ in those 32 bits alone, so two of very
 * many such streams may share a name; an export refuses that in one run.
 */
export function slugOf(streamId: string): string {
  return `${readablePart(streamId) || 'stream'}-${digestOfId(streamId).slice(0, 8)}`;
}

/**
 * Returns `<slug>.zip`, or `<slug>.PARTIAL.zip` for a bundle that must not pass for whole, followed by `.age` if
 * encrypted.
 */
export function bundleFileName(slug: string, status: BagStatus, isEncrypted = false): string {
  const name = status === 'PARTIAL' ? `${slug}.PARTIAL.zip` : `${slug}.zip`;
  return isEncrypted ? `${name}.age` : name;
}

/** Returns the name of the tag file that replaces a missing form and states the reason. */
export function missingFileName(form: string): string {
  if (!/^[A-Za-z0-9_-]+$/.test(form)) throw new TypeError('a form is named by letters, digits, "_" and "-"');
  return `_MISSING_${form}.txt`;
}

/** Returns `Payload-Oxum` (RFC 8493 section 2.2.2): bytes of the payload, a dot, number of payload files. */
export function payloadOxum(payload: readonly { bytes: number }[]): string {
  return `${payload.reduce((sum, file) => sum + file.bytes, 0)}.${payload.length}`;
}

/**
 * Returns the text of `bag-info.txt`: one `Label: value` per line. Stream ids and names come from outside, so line
 * breaks and `%` are percent-encoded: no value can add a label.
 */
export function bagInfoText(fields: readonly (readonly [label: string, value: string])[]): string {
  return fields
    .map(([label, value]) => {
      if (!/^[A-Za-z0-9][A-Za-z0-9-]*$/.test(label)) throw new TypeError('a bag-info label is letters, digits and "-"');
      return `${label}: ${value.toWellFormed().replace(/[\p{Cc}\p{Zl}\p{Zp}%]/gu, encodeURIComponent)}\n`;
    })
    .join('');
}

/**
 * Returns the fields of a `bag-info.txt` with folded lines joined; null if a line is neither a field nor a
 * continuation.
 */
export function parseBagInfo(text: string): [label: string, value: string][] | null {
  const fields: [string, string][] = [];
  for (const line of text.replace(/\r?\n$/, '').split(/\r?\n/)) {
    const last = fields.at(-1);
    if (/^[ \t]/.test(line) && last !== undefined) {
      last[1] += ` ${line.trim()}`;
      continue;
    }
    const colon = line.indexOf(':');
    if (colon < 1) return null;
    fields.push([line.slice(0, colon), line.slice(colon + 1).trim()]);
  }
  return fields.map(([label, value]) => [label, percentDecoded(value)]);
}

/**
 * Returns the text that `bag-info.txt` must have; only its day is taken from the text that was found.
 * @param files all files of the bag, by path.
 */
export function expectedBagInfo(
  found: string,
  fields: readonly (readonly [label: string, value: string])[],
  files: ReadonlyMap<string, { bytes: number }>,
): string {
  const [, date = ''] = (parseBagInfo(found) ?? []).find(([label]) => label === 'Bagging-Date') ?? [];
  const payload = [...files].filter(([path]) => path.startsWith('data/')).map(([, file]) => file);
  return bagInfoText([
    ...fields,
    ['Bagging-Date', /^\d{4}-\d\d-\d\d$/.test(date) ? date : 'a day'],
    ['Payload-Oxum', payloadOxum(payload)],
  ]);
}

/** Returns the identity of a bundle in hex, which does not depend on the compression or the zip program. */
export function identityOf(manifest: string | Uint8Array): string {
  return sha256(manifest);
}

function readablePart(streamId: string): string {
  const name = streamId
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/\.{2,}/g, '.')
    .slice(0, MAX_READABLE - 1)
    .replace(/^[-.]+|[-.]+$/g, '');
  return WINDOWS_DEVICE.test(name) ? `_${name}` : name;
}

/**
 * Returns the digest of an id. An id with a lone surrogate has no UTF-8 form; a replacement character would make
 * several such ids equal.
 */
function digestOfId(streamId: string): string {
  return sha256(streamId.isWellFormed() ? streamId : utf16Bytes(streamId));
}

/** Returns UTF-16 bytes, little-endian. */
function utf16Bytes(text: string): Uint8Array {
  return Uint8Array.from({ length: 2 * text.length }, (_, at) => text.charCodeAt(at >> 1) >> (8 * (at % 2)));
}

function percentDecoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
