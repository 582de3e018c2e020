import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from './built.ts';
import { stopSharedRadosgw } from './radosgw.ts';

/**
 * What the tests leave in the system's temporary folder is in one folder, which goes when they end; in it the programs
 * that they start.
 */
export default async function setup(): Promise<() => void> {
  const folder = mkdtempSync(join(tmpdir(), 'evidence-exporter-test-'));
  process.env['TMPDIR'] = folder;
  await build();
  return () => {
    stopSharedRadosgw(folder);
    rmSync(folder, { recursive: true, force: true });
  };
}
