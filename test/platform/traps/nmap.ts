import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runToEnd } from '../../support/process.ts';

/** Where Debian has what nmap sends and what it is answered. */
const PROBES = '/usr/share/nmap/nmap-service-probes';

/**
 * What nmap says of what listens on ports of this machine. It waits a second for an answer: nobody here takes longer, and its
 * own six are for far networks.
 * @param change of what it knows.
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
