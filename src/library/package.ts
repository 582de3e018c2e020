import { access, open } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { EvidenceError } from '../core/errors.ts';
import { verifyToken } from '../core/timestamp/verify.ts';
import type { FileReport } from '../verifier/verify/file-report.ts';
import { BEGINNING_BYTES } from '../verifier/verify/package-content.ts';
import { verifyPackage as verifyPackageFile } from '../verifier/verify/package-file.ts';
import { rangeThreadsFor } from '../verifier/verify/range-threads.ts';
import { type Content, requireBeginning, toPackageReport, verifyPackageOf } from './content.ts';
import { type StampTrust, withRoots } from './roots.ts';

/** Options for reading a package in a file. */
export interface PackageReadingOptions {
  /** Number of threads. Default: 1 up to 32 MiB; above that, one per core, at most 4. */
  threads?: number;
  /** Ends the verification, which rejects with the signal's reason. */
  signal?: AbortSignal;
}

/**
 * Verifies the JSON form of a package by itself, stream by stream. Claims that need more than the package, such as
 * whether entries are missing at its end, stay unproved.
 *
 * @param source the path of a package, or its bytes. Only a file is read by several threads.
 * @returns the report. A package that was tampered with is `refuted`; this is not an error.
 * @throws EvidenceError `not-found` if there is no such file; `unreadable` if the JSON is no package; `config` if the
 * contract or roots are invalid.
 *
 * @example
 * ```js
 * import { readFile } from 'node:fs/promises';
 * import { verifyPackage } from 'evidence-exporter';
 *
 * const report = await verifyPackage('payments.json', {
 *   now: new Date(),
 *   sealKeys: { k1: await readFile('k1.key') },
 *   timestampRoots: await readFile('roots.pem', 'utf8'),
 *   required: ['order', 'content', 'seal', 'anchor'],
 * });
 * for (const { stream_id, status, findings } of report.streams) console.log(stream_id, status, findings);
 * ```
 */
export async function verifyPackage(
  source: string | URL | Content,
  trust: StampTrust,
  reading: PackageReadingOptions = {},
): Promise<FileReport> {
  const { threads, signal } = reading;
  const options = withRoots(trust);
  if (typeof source !== 'string' && !(source instanceof URL)) return verifyPackageOf(source, options, verifyToken);
  const path = source instanceof URL ? fileURLToPath(source) : source;
  await access(path).catch((error: Error) => {
    throw new EvidenceError('not-found', `there is no package at ${path}: ${error.message}`, { cause: error });
  });
  await requireJson(path);
  await using workers = rangeThreadsFor(path, threads ?? null);
  return toPackageReport(await verifyPackageFile(path, { ...options, signal, threads: workers }));
}

/** Checks that a regular file begins like JSON. Skips pipes and devices, whose beginning cannot be read twice. */
async function requireJson(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    if (!(await file.stat()).isFile()) return;
    const { buffer, bytesRead } = await file.read(new Uint8Array(BEGINNING_BYTES), 0, BEGINNING_BYTES, 0);
    requireBeginning(buffer.subarray(0, bytesRead));
  } finally {
    await file.close();
  }
}
