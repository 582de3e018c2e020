import { EvidenceError } from '../core/errors.ts';
import { readBundle } from '../verifier/bundle/bundle.ts';
import { openBlob } from '../verifier/bundle/container.ts';
import type { Readers } from '../verifier/claims/observe.ts';
import { type VerifyOptions, verifyContent } from '../verifier/verify/content.ts';
import { type FileReport, reportOfBundle, reportOfPackage } from '../verifier/verify/file-report.ts';
import {
  BEGINNING_BYTES,
  isPackageBeginning,
  noPackage,
  type VerifiedPackage,
  verifyPackageContent,
} from '../verifier/verify/package-content.ts';

/** Bytes, or a blob that provides them on demand, such as a `File` of a page or the result of Node's `openAsBlob`. */
export type Content = Uint8Array<ArrayBuffer> | Blob;

/** Name in findings for a bundle without a file name. */
const UNNAMED = 'the bundle';

/** First line of age's own format. */
const AGE = 'age-encryption.org/v1';

export async function verifyBundleContent(
  content: Content,
  options: VerifyOptions,
  readers: Readers,
): Promise<FileReport> {
  const blob = toBlob(content);
  if ((await blob.slice(0, AGE.length).text()) === AGE)
    throw new EvidenceError('unreadable', 'the bundle is encrypted', { nextStep: 'Decrypt it: age -d -i KEY FILE.' });
  const opening = readBundle(openBlob(blob, UNNAMED));
  return reportOfBundle(await verifyContent(opening, UNNAMED, { ...options, alone: true }, readers), UNNAMED);
}

export async function verifyPackageOf(
  content: Content,
  options: VerifyOptions,
  verifyToken: Readers['verifyToken'],
): Promise<FileReport> {
  const blob = toBlob(content);
  requireBeginning(new Uint8Array(await blob.slice(0, BEGINNING_BYTES).arrayBuffer()));
  return toPackageReport(await verifyPackageContent(blocksOf(blob), options, verifyToken));
}

/** @throws EvidenceError `unreadable` if the JSON is no package. */
export function toPackageReport({ verdicts, contract }: VerifiedPackage): FileReport {
  const report = reportOfPackage(verdicts, contract);
  if (report === null) throw noPackage('it has no list of entries');
  return report;
}

/** @throws EvidenceError `unreadable` if the bytes are not JSON. */
export function requireBeginning(bytes: Uint8Array): void {
  if (!isPackageBeginning(bytes)) throw noPackage('it is not JSON');
}

function toBlob(content: Content): Blob {
  return content instanceof Blob ? content : new Blob([content]);
}

const BLOCK = 2 ** 20;

/** Reads a blob in slices, because not every browser can iterate over a stream. */
async function* blocksOf(blob: Blob): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < blob.size; at += BLOCK)
    yield new Uint8Array(await blob.slice(at, Math.min(at + BLOCK, blob.size)).arrayBuffer());
}
