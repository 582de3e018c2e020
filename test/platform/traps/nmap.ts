import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runToEnd } from '../../support/process.ts';

/** Debian's path of nmap's probes and expected answers. */
const PROBES = '/usr/share/nmap/nmap-service-probes';

/**
 * Returns nmap's findings about ports of this machine. nmap waits one second per answer instead of six, which suits a
 * local network.
 * @param change of the probes.
 */
export async function nmapOf(
  ports: readonly (number | string)[],
  more: readonly string[] = [],
  change: (probes: string) => string = (same) => same,
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'nmap-'));
  try {
    const probes = change(await readFile(PROBES, 'latin1'))
      .replaceAll(/^totalwaitms .*\n/gm, '')
      .replaceAll(/^Probe .*/gm, '$&\ntotalwaitms 1000');
    await writeFile(join(folder, 'probes'), probes, 'latin1');
    const words = ['-sV', '-Pn', '-n', '--versiondb', 'probes', '-p', ports.join(), ...more, '127.0.0.1'];
    return (await runToEnd('nmap', words, { cwd: folder })).stdout;
  } finally {
    await rm(folder, { recursive: true });
  }
}
