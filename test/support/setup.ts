import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { stopSharedRadosgw } from './radosgw.ts';
import { stopSharedPostgres } from './shared-postgres.ts';

const PREFIX = 'evidence-exporter-test-';

/** Puts the tests' temporary files into one folder, which is removed at the end. */
export default function setup(): () => Promise<void> {
  const folder = useOwnFolder();
  return async () => {
    stopSharedRadosgw(folder);
    await stopSharedPostgres(folder);
    rmSync(folder, { recursive: true, force: true });
  };
}

/** Makes the run's folder the temporary one; any part of the setup may call this first. */
export function useOwnFolder(folder = tmpdir()): string {
  if (basename(folder).startsWith(PREFIX)) return folder;
  const own = mkdtempSync(join(folder, PREFIX));
  // Workers that end last still write compiled files.
  process.once('exit', () => rmSync(own, { recursive: true, force: true }));
  process.env['TMPDIR'] = own;
  return own;
}
