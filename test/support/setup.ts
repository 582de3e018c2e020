import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { stopSharedRadosgw } from './radosgw.ts';
import { stopSharedPostgres } from './shared-postgres.ts';

const PREFIX = 'evidence-exporter-test-';

/** What the tests leave in the system's temporary folder is in one folder, which goes when they end. */
export default function setup(): () => Promise<void> {
  const folder = useOwnFolder();
  return async () => {
    stopSharedRadosgw(folder);
    await stopSharedPostgres(folder);
    rmSync(folder, { recursive: true, force: true });
  };
}

/** Makes the folder of this run the temporary one, for whichever part of the set-up comes first. */
export function useOwnFolder(folder = tmpdir()): string {
  if (basename(folder).startsWith(PREFIX)) return folder;
  const own = mkdtempSync(join(folder, PREFIX));
  // Workers that end last write what they compiled once more.
  process.once('exit', () => rmSync(own, { recursive: true, force: true }));
  process.env['TMPDIR'] = own;
  return own;
}
