import { join } from 'node:path';
import { EvidenceError } from '../../../core/errors.ts';
import type { Identities } from '../../../verifier/encryption/keys.ts';
import type { VerifyOptions } from '../../../verifier/verify/content.ts';
import {
  type FileReport,
  reportDamage,
  reportOfBundle,
  reportOfPackage,
} from '../../../verifier/verify/file-report.ts';
import type { RangeThreads } from '../../../verifier/verify/range-threads.ts';
import type { Config } from '../config/config.ts';
import { openIdentities } from '../config/trust.ts';
import { withWorkDirectory } from '../config/work-directory.ts';
import { noEvidence, type TargetKind } from './verify-target.ts';

/**
 * Loads code for a kind of file only when it is needed: a package needs no schema, YAML or zip, whose loading takes
 * longer than verifying a small package.
 */
const loadBundle = async () => (await import('../../../verifier/verify/bundle.ts')).verifyBundle;
const loadPackage = async () => (await import('../../../verifier/verify/package-file.ts')).verifyPackage;

/** Dependencies for verifying files. */
export interface FileDeps {
  options: VerifyOptions;
  identityFiles: readonly string[];
  /** Returns the threads that read a package, and starts them if necessary. */
  threadsFor: (path: string) => RangeThreads;
  workDirectory: Config['workDirectory'];
}

/**
 * Verifies a single file.
 * @param name as the user gave it.
 * @throws EvidenceError `usage` for a file encrypted to other recipients, and for a file that is no evidence.
 */
export async function verifyFile(
  kind: Exclude<TargetKind, 'archive'>,
  path: string,
  name: string,
  { options, identityFiles, threadsFor, workDirectory }: FileDeps,
  signal: AbortSignal,
): Promise<FileReport> {
  if (kind === 'bundle') return verifyOneBundle(path, name, options);
  if (kind === 'package') return verifyOnePackage(path, name, threadsFor(path), options, signal);
  const identities = await openIdentities(identityFiles);
  return withWorkDirectory(workDirectory, (folder) =>
    verifyEncryptedBundle(path, { name, folder, identities }, options),
  );
}

async function verifyOneBundle(file: string, name: string, options: VerifyOptions): Promise<FileReport> {
  const verifyBundle = await loadBundle();
  return reportOfBundle(await verifyBundle(file, name, { ...options, alone: true }), name);
}

/** @throws EvidenceError `usage` if the given identities cannot decrypt the file. */
async function verifyEncryptedBundle(
  file: string,
  { name, folder, identities }: { name: string; folder: string; identities: Identities | null },
  options: VerifyOptions,
): Promise<FileReport> {
  const { decryptFile } = await import('../../../verifier/encryption/age.ts');
  const { readObject } = await import('../../../verifier/verify/object-finding.ts');
  const zip = join(folder, 'decrypted.zip');
  const read = async () => ({ content: identities === null ? null : await decryptFile(file, zip, identities) });
  const { value: decrypted, findings } = await readObject(name, read);
  if (decrypted === null) return reportDamage(findings);
  const { content } = decrypted;
  if (content !== null) return verifyOneBundle(zip, name, options);
  const why = identities === null ? 'is encrypted' : 'is not encrypted to any of the given identities';
  throw new EvidenceError('usage', `${name} ${why}, so nothing can be verified`, {
    nextStep: 'Give the identity file of a recipient: --identity FILE.',
  });
}

async function verifyOnePackage(
  file: string,
  name: string,
  started: RangeThreads,
  options: VerifyOptions,
  signal: AbortSignal,
): Promise<FileReport> {
  await using threads = started;
  const verifyPackage = await loadPackage();
  const { verdicts, contract } = await verifyPackage(file, { ...options, signal, threads });
  const report = reportOfPackage(verdicts, contract);
  if (report === null) throw noEvidence(name, 'it has no list of entries');
  return report;
}
