import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { EvidenceError } from '../../core/errors.ts';
import { packageFile, readManifest, SENSOR_FILE, sensorProgram, startFile } from '../../core/install-paths.ts';
import { writeNewFile } from '../../core/new-file.ts';
import { systemdWord } from '../../core/shell.ts';
import { command } from './command.ts';

const ELSEWHERE = 'Name a folder with --out that this user can write to.';

const FILES = {
  systemd: ['evidence-platform.service', 'platform.yaml'],
  docker: ['Dockerfile', 'compose.yaml', 'platform.yaml'],
  sensor: ['evidence-sensor.service', 'evidence-sensor.timer', 'evidence-sensor-loop.service', 'evidence-sensor.mjs'],
} as const;
type Kind = keyof typeof FILES;

/** Command that starts the sensor on a machine without the rest of this package. */
const SENSOR = `/usr/bin/env node ${SENSOR_FILE}`;

const KINDS = Object.keys(FILES) as Kind[];

/** `evidence-platform deploy`: writes the files with which service managers run the platform or the sensor. */
export const deployCommand = command({
  describe: 'Write the files with which systemd or Docker runs the platform, or the sensor with its systemd units',
  operands: {
    kind: { choices: KINDS, describe: 'The service manager; sensor: the sensor with its systemd units' },
  },
  flags: { out: { default: 'deploy', describe: 'Folder for the files' } },
  async work({ kind, out }) {
    if (kind === undefined) throw new EvidenceError('usage', `deploy requires a kind: ${KINDS.join(', ')}`);
    const { Eta } = await import('eta');
    const eta = new Eta({ autoEscape: false, autoTrim: false });
    // Uses this program and this Node.js, because the PATH of a service may find others.
    const program = [process.execPath, startFile('evidence-platform')].map(systemdWord).join(' ');
    const settings = readFileSync(packageFile('templates/deploy/sensor-settings.eta'), 'utf8').trim();
    const words = {
      kind,
      program,
      sensor: SENSOR,
      settings,
      config: '/etc/evidence/platform.yaml',
      version: readManifest().version,
    };
    const paths = FILES[kind].map((name) => join(out, name));
    refuseExisting(paths);
    for (const name of FILES[kind]) {
      const content =
        name === 'evidence-sensor.mjs'
          ? await sensorProgram()
          : eta.renderString(readFileSync(packageFile(`templates/deploy/${name}.eta`), 'utf8'), words).trimStart();
      writeNewFile(join(out, name), content, ELSEWHERE);
    }
    process.stdout.write(`Wrote ${paths.join(', ')}. The first lines of each file list the next steps.\n`);
  },
});

/** @throws EvidenceError `usage`. */
function refuseExisting(paths: readonly string[]): void {
  const there = paths.filter((path) => existsSync(path));
  if (there.length > 0)
    throw new EvidenceError('usage', `${there.join(', ')} ${there.length === 1 ? 'exists' : 'exist'} already`, {
      nextStep: 'Nothing was written. Choose another folder with --out, and compare the files.',
    });
}
