import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stopSharedRadosgw } from './radosgw.ts';

/** What the tests leave in the system's temporary folder is in one folder, which goes when they end. */
export default function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'evidence-exporter-test-'));
  process.env['TMPDIR'] = folder;
  return () => {
    stopSharedRadosgw(folder);
    rmSync(folder, { recursive: true, force: true });
  };
}
