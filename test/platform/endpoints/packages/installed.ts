import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EndpointLine } from '../../../../src/sensor/report/line.ts';
import { hexSha256 } from './deb-files.ts';

/** Returns the lines that a sensor would report for the regular files in `/usr/bin` of a system in a folder. */
export function linesIn(root: string): EndpointLine[] {
  const names = readdirSync(join(root, 'usr/bin')).sort();
  return names
    .map((name) => ({ path: `/usr/bin/${name}`, at: join(root, 'usr/bin', name) }))
    .filter(({ at }) => lstatSync(at).isFile())
    .map(({ path, at }) => {
      const { size, mode, uid, gid } = lstatSync(at);
      const permissions = (mode & 0o7777).toString(8).padStart(4, '0');
      return { path, type: 'file', sha256: hexSha256(readFileSync(at)), size, mode: permissions, uid, gid };
    });
}
