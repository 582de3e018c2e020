import type { FileReport } from '../verifier/verify/file-report.ts';
import { type Content, verifyBundleContent, verifyPackageOf } from './content.ts';
import { type Trust, toVerifyOptions } from './trust.ts';

/** Certificates and PDFs are read by code that a browser has not got. */
const NOT_HERE = { readPdf: null, verifyToken: null };

/**
 * As in Node, apart from time-stamps, which are not judged: `anchor` stays unproved; and the PDF, which proves nothing, is not
 * read.
 *
 * @throws EvidenceError `unreadable` for a bundle that is encrypted; `config` for a contract that is none.
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
 * As in Node, apart from time-stamps, which are not judged: `anchor` stays unproved.
 *
 * @throws EvidenceError `unreadable` for JSON that is no package; `config` for a contract that is none.
 */
export async function verifyPackage(content: Content, trust: Trust): Promise<FileReport> {
  return verifyPackageOf(content, toVerifyOptions(trust), null);
}
