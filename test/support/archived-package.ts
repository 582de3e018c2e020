import { rmSync } from 'node:fs';
import { openDirectoryArchive } from '../../src/exporter/archive/directory/archive.ts';
import { bundleFileName, slugOf } from '../../src/verifier/bundle/layout.ts';
import type { ClaimName } from '../../src/verifier/claims/claim.ts';
import { bundleKey } from '../../src/verifier/records/keys.ts';
import type { RunRecord } from '../../src/verifier/records/record.ts';
import type { SigningKey } from '../../src/verifier/signature/key.ts';
import { type PackageBundle, writePackageBundle } from './package-bundle.ts';
import { runRecord } from './records.ts';
import { finalizeRun } from './signed-archive.ts';

/** Run of the bundles that `writePackageBundle` writes. */
export const RUN = 'r';

export interface ArchivedPackage {
  bundle: Omit<PackageBundle, 'target'>;
  /** Claims that the run requires, whatever the bundle requires. */
  required?: readonly ClaimName[];
  key?: SigningKey | null;
  more?: Partial<RunRecord>;
}

/**
 * Writes an archive with one run of one bundle into the new folder `root`, as an export would.
 * @returns the key of the bundle.
 */
export async function archivePackage(
  root: string,
  { bundle, required = ['order'], key = null, more = {} }: ArchivedPackage,
): Promise<string> {
  const archive = await openDirectoryArchive(root, { create: true });
  const target = `${root}.zip`;
  const { verdict, beside, ...written } = await writePackageBundle({ target, ...bundle });
  const name = bundleKey(RUN, bundleFileName(slugOf(verdict.stream_id), 'COMPLETE'));
  const stored = { key: name, bytes: written.bytes, sha256: written.sha256, identity: written.identity };
  await archive.put(name, { file: target }, stored);
  const stream = { ...verdict, ...beside, partial: false, missing: [], bundle: stored, record: null };
  const { scope } = runRecord(RUN, []);
  await finalizeRun(archive, RUN, key, {
    streams: [stream],
    scope: { ...scope, required_claims: [...required] },
    ...more,
  });
  await archive.close();
  rmSync(target);
  return name;
}
