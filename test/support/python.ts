import { execFileSync } from 'node:child_process';
import { delimiter, dirname } from 'node:path';

/** What is called python3 may be a script that looks for it, and starts a dozen programs each time: it looks once. */
export default function findPython(): void {
  const python = execFileSync('python3', ['-c', 'import sys; print(sys.executable)'], { encoding: 'utf8' }).trim();
  process.env['PATH'] = `${dirname(python)}${delimiter}${process.env['PATH']}`;
}
