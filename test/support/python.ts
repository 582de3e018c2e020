import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

/**
 * What is called python3 may be a script that looks for it, and starts a dozen programs each time: it looks once. The
 * folder of the program itself is not put into PATH, where it may hold another Node.js.
 */
export default function findPython(): () => void {
  const python = execFileSync('python3', ['-c', 'import sys; print(sys.executable)'], { encoding: 'utf8' }).trim();
  const folder = mkdtempSync(join(tmpdir(), 'python-'));
  symlinkSync(python, join(folder, 'python3'));
  process.env['PATH'] = `${folder}${delimiter}${process.env['PATH']}`;
  return () => rmSync(folder, { recursive: true, force: true });
}
