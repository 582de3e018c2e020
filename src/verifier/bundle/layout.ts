import { sha256 } from '../../core/digest.ts';

/** `PARTIAL`: at least one form that was asked for is missing from the bundle. */
export type BagStatus = 'COMPLETE' | 'PARTIAL';

/** Names of the tag files of a bag, RFC 8493 sections 2.1.1, 2.1.3, 2.2.1 and 2.2.2. */
export const BAG_DECLARATION = 'bagit.txt';
export const BAG_INFO = 'bag-info.txt';
export const MANIFEST = 'manifest-sha256.txt';
export const TAG_MANIFEST = 'tagmanifest-sha256.txt';

/** The tag file that says which run the bundle was made in; see `bindingText`. */
export const BINDING = 'run-binding.txt';

/** RFC 8493 section 2.1.1. */
export const BAG_DECLARATION_TEXT = 'BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n';

const MAX_READABLE = 60;

/** Windows takes `con` and also `con.anything` for the device. */
const WINDOWS_DEVICE = /^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)/;

/**
 * A name for the stream on any disk: what is readable of its id, then 8 hex digits of the SHA-256 of the id. Ids that
 * differ only in what is not readable (letter case, spaces, other scripts) differ in those 32 bits alone, so two of very
 * many such streams may have the same name: an export refuses them in one run.
 */
export function slugOf(streamId: string): string {
  return `${readablePart(streamId) || 'stream'}-${digestOfId(streamId).slice(0, 8)}`;
}

/** `<slug>.zip`; `<slug>.PARTIAL.zip` for one that must not be taken for whole; `.age` after it when it is encrypted. */
export function bundleFileName(slug: string, status: BagStatus, isEncrypted = false): string {
  const name = status === 'PARTIAL' ? `${slug}.PARTIAL.zip` : `${slug}.zip`;
  return isEncrypted ? `${name}.age` : name;
}

/** Name of the tag file that stands for a form which could not be had and says why. */
export function missingFileName(form: string): string {
  if (!/^[A-Za-z0-9_-]+$/.test(form)) throw new TypeError('a form is named by letters, digits, "_" and "-"');
  return `_MISSING_${form}.txt`;
}

/** RFC 8493 section 2.2.2, `Payload-Oxum`: bytes of the payload, a dot, number of payload files. */
export function payloadOxum(payload: readonly { bytes: number }[]): string {
  return `${payload.reduce((sum, file) => sum + file.bytes, 0)}.${payload.length}`;
}

/**
 * The text of `bag-info.txt`: one `Label: value` a line. Stream ids and names come from outside, so whatever could end
 * a line, and `%` itself, is percent-encoded: no value can add a label of its own.
 */
export function bagInfoText(fields: readonly (readonly [label: string, value: string])[]): string {
  return fields
    .map(([label, value]) => {
      if (!/^[A-Za-z0-9][A-Za-z0-9-]*$/.test(label)) throw new TypeError('a bag-info label is letters, digits and "-"');
      return `${label}: ${value.toWellFormed().replace(/[\p{Cc}\p{Zl}\p{Zp}%]/gu, encodeURIComponent)}\n`;
    })
    .join('');
}

/** The fields of a `bag-info.txt`, folded lines joined; null where a line is neither a field nor a continuation. */
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

/** The identity of a bundle: it stays the same whatever compression or zip program was used. Hex. */
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

/** Ids with a lone surrogate have no UTF-8 form, and encoding them all the same would make several of them one. */
function digestOfId(streamId: string): string {
  return sha256(streamId.isWellFormed() ? streamId : utf16Bytes(streamId));
}

/** Little-endian. */
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
