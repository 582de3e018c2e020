import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { Bundle } from '../../verifier/bundle/bundle.ts';
import { BINDING, TAG_MANIFEST } from '../../verifier/bundle/layout.ts';

/** Far more than the tag files of a bundle need. */
const MAX_BYTES = 1024 * 1024;

/**
 * Content of the tag file that binds a bundle to the run it was made in: an HMAC-SHA-256 (RFC 2104), in hex and a line
 * feed, over where the bundle is to lie and every other line of the tag manifest. These name the payload's manifest, so
 * nothing in the bundle can be another.
 *
 * @param place key of the object in the archive.
 * @param tagManifest its text without the line of this file.
 */
export function bindingText(key: KeyObject, place: string, tagManifest: string): string {
  return `${createHmac('sha256', key).update(`bundle\n${place}\n${tagManifest}`).digest('hex')}\n`;
}

/**
 * Reports whether the bundle was made for this place by somebody who has the key. It says nothing of the files
 * themselves: see `checkIntegrity`.
 *
 * @throws EvidenceError `not-found`, `unreadable` for a bundle that lacks the files, or has damaged ones.
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
