import { EvidenceError } from '../../core/errors.ts';

/** Bytes of a file that tell if it may be a package. */
export const BEGINNING_BYTES = 4096;

/** True for the beginning of a JSON object or list. Of one that is all white space more would have to be read. */
export function isPackageBeginning(bytes: Uint8Array): boolean {
  const text = new TextDecoder('latin1').decode(bytes);
  return /^(\xef\xbb\xbf)?\s*[{[]/.test(text) || (bytes.length >= BEGINNING_BYTES && text.trim() === '');
}

/** The error for what is no package at all, and is not judged as one. @param why in words that follow a colon. */
export function noPackage(why: string): EvidenceError {
  return new EvidenceError('unreadable', `it is no evidence package: ${why}`);
}
