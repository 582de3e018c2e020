import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { Bundle } from '../../verifier/bundle/bundle.ts';
import { BINDING, TAG_MANIFEST } from '../../verifier/bundle/layout.ts';

/** Size limit far above the size of a bundle's tag files. */
const MAX_BYTES = 1024 * 1024;

/**
 * Returns the content of the tag file that binds a bundle to its run: an HMAC-SHA-256 (RFC 2104), in hex with a line
 * feed, over the bundle's place and all other lines of the tag manifest. Those lines include the digest of the payload
 * manifest, so the HMAC covers every file of the bundle.
 *
 * @param place key of the object in the archive.
 * @param tagManifest its text without the line of this file.
 */
export function bindingText(key: KeyObject, place: string, tagManifest: string): string {
  return `${createHmac('sha256', key).update(`bundle\n${place}\n${tagManifest}`).digest('hex')}\n`;
}

/**
 * Reports whether the bundle was made for this place by a holder of the key. It does not check the files themselves;
 * `checkIntegrity` does.
 *
 * @throws EvidenceError `not-found`, `unreadable` if these files are missing from the bundle or damaged.
 */
export async function isBound(bundle: Bundle, key: KeyObject, place: string): Promise<boolean> {
  const [stated, manifest] = [
    await bundle.readFile(BINDING, MAX_BYTES),
    Buffer.from(await bundle.readFile(TAG_MANIFEST, MAX_BYTES)).toString('utf8'),
  ];
  const others = manifest.split(/(?<=\n)/).filter((line) => !line.endsWith(`  ${BINDING}\n`));
  const expected = Buffer.from(bindingText(key, place, others.join('')));
  return stated.length === expected.length && timingSafeEqual(stated, expected);
}
