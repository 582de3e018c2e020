import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { stopSharedRadosgw } from './radosgw.ts';

const PREFIX = 'evidence-exporter-test-';

/** What the tests leave in the system's temporary folder is in one folder, which goes when they end. */
export default function setup(): () => void {
  // Of another project, in this very run.
  if (basename(tmpdir()).startsWith(PREFIX)) return () => undefined;
  const folder = mkdtempSync(join(tmpdir(), PREFIX));
  process.env['TMPDIR'] = folder;
  return () => {
    stopSharedRadosgw(folder);
    rmSync(folder, { recursive: true, force: true });
  };
}
