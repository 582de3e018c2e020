import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

/**
 * Puts a link to the real Python first into PATH, because python3 may be a script that starts a dozen programs each
 * time. Python's own folder stays out of PATH, because it may contain another Node.js.
 */
export default function findPython(): () => void {
  const python = execFileSync('python3', ['-c', 'import sys; print(sys.executable)'], { encoding: 'utf8' }).trim();
  const folder = mkdtempSync(join(tmpdir(), 'python-'));
  symlinkSync(python, join(folder, 'python3'));
  process.env['PATH'] = `${folder}${delimiter}${process.env['PATH']}`;
  return () => rmSync(folder, { recursive: true, force: true });
}
