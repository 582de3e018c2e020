import type { FileReport } from '../verifier/verify/file-report.ts';
import { type Content, verifyBundleContent, verifyPackageOf } from './content.ts';
import { type Trust, toVerifyOptions } from './trust.ts';

/** Readers of certificates and PDFs, which need code that browsers lack. */
const NOT_HERE = { readPdf: null, verifyToken: null };

/**
 * Verifies one bundle as in Node, with two exceptions: time-stamps are not judged, so `anchor` stays unproved; and the
 * PDF, which proves nothing, is not read.
 *
 * @throws EvidenceError `unreadable` if the bundle is encrypted; `config` if the contract is invalid.
 *
 * @example
 * ```js
 * import { verifyBundle } from 'evidence-exporter/browser';
 *
 * const [file] = document.querySelector('input[type=file]').files;
 * const { outcome, streams } = await verifyBundle(file, { now: new Date() });
 * ```
 */
export async function verifyBundle(content: Content, trust: Trust): Promise<FileReport> {
  return verifyBundleContent(content, toVerifyOptions(trust), NOT_HERE);
}

/**
 * Verifies a package as in Node, except that time-stamps are not judged, so `anchor` stays unproved.
 *
 * @throws EvidenceError `unreadable` if the JSON is no package; `config` if the contract is invalid.
 */
export async function verifyPackage(content: Content, trust: Trust): Promise<FileReport> {
  return verifyPackageOf(content, toVerifyOptions(trust), null);
}
