import { fileURLToPath } from 'node:url';
import { verifyToken } from '../core/timestamp/verify.ts';
import { readPdf } from '../verifier/pdf-text/reader.ts';
import { verifyBundle as verifyBundleFile } from '../verifier/verify/bundle.ts';
import { type FileReport, reportOfBundle } from '../verifier/verify/file-report.ts';
import { type Content, verifyBundleContent } from './content.ts';
import { type StampTrust, withRoots } from './roots.ts';

/**
 * Verifies one bundle: its zip, its manifests, and each claim from the bytes of its evidence.
 *
 * @param source the path of a `.zip`, or its bytes.
 * @returns the report. A bundle that was tampered with, or is no zip at all, is `refuted`; this is not an error.
 * @throws EvidenceError `not-found` if there is no such file; `unreadable` if the bundle is encrypted; `config` if the
 * contract or roots are invalid.
 *
 * @example
 * ```js
 * import { verifyBundle } from 'evidence-exporter';
 *
 * const report = await verifyBundle('payments.zip', { now: new Date() });
 * if (report.outcome !== 'verified') console.error(report.findings, report.streams[0]?.claims);
 * ```
 */
export async function verifyBundle(source: string | URL | Content, trust: StampTrust): Promise<FileReport> {
  const options = withRoots(trust);
  if (typeof source !== 'string' && !(source instanceof URL))
    return verifyBundleContent(source, options, { readPdf, verifyToken });
  const path = source instanceof URL ? fileURLToPath(source) : source;
  return reportOfBundle(await verifyBundleFile(path, path, { ...options, alone: true }), path);
}
