import { basename, join, posix, resolve } from 'node:path';
import { EvidenceError } from '../../../core/errors.ts';
import { startFile } from '../../../core/install-paths.ts';
import { shellWord, systemdWord } from '../../../core/shell.ts';
import type { NamedFiles } from '../config/named-files.ts';
import { readOperator, readTool } from '../config/tool.ts';
import type { FlagsOf } from './flags-of.ts';
import { fillTemplate } from './init-templates.ts';

const SCHEDULERS = ['cron', 'systemd', 'kubernetes'] as const;
type Scheduler = (typeof SCHEDULERS)[number];

/** Monthly job, independent of its scheduler. */
export interface Scheduled {
  /** Folder of `evidence.yaml`. */
  directory: string;
  /** True if the archive is a folder, for which a container needs a volume. */
  isInFolder: boolean;
  /** True if runs are time-stamped, so that their stamps have to be renewed. */
  restamps: boolean;
  /** Files that evidence.yaml refers to. */
  files: NamedFiles;
  /** Work directory in evidence.yaml; null if it sets none. */
  workDirectory: string | null;
}

/** File of the API key if evidence.yaml sets none. */
const KEY_FILE = '/etc/evidence/api-key';

export function schedulersOf(flags: FlagsOf<'init'>): Scheduler[] {
  return SCHEDULERS.filter((name) => flags[name] === true);
}

/** Returns the names and texts of the files in `deploy/` that a scheduler needs. */
export function scheduleTexts(scheduler: Scheduler, scheduled: Scheduled): [name: string, text: string][] {
  const { directory } = scheduled;
  if (/\p{Cc}/u.test(directory))
    throw new EvidenceError(
      'usage',
      'the name of this folder contains a control character, which a schedule cannot contain',
      {
        nextStep: 'Run the command in another folder.',
      },
    );
  return { cron: cronTexts, systemd: systemdTexts, kubernetes: kubernetesTexts }[scheduler](scheduled);
}

/** Returns the steps that the user has to take before the files work. */
export function afterSchedule(scheduler: Scheduler, { files }: Scheduled): string {
  const isKeyNamed = files.apiKey !== null;
  return {
    cron: `${isKeyNamed ? 'Add' : `Put the API key into ${KEY_FILE}, readable only by this user, and add`} the lines of deploy/crontab with: crontab -e.`,
    systemd: `${isKeyNamed ? 'Install the units:' : `Put the API key into ${KEY_FILE}, readable only by root; then:`} sudo cp deploy/evidence-*.service deploy/evidence-*.timer /etc/systemd/system/ && sudo systemctl enable --now evidence-export.timer evidence-upkeep.timer`,
    kubernetes: 'Set your image and archive in deploy/cronjob.yaml; its first lines list what it needs.',
  }[scheduler];
}

/** This program run by this Node.js, because the PATH of a scheduler may find others. */
const PROGRAM = [process.execPath, startFile('evidence')];

function cronTexts({ directory, restamps, files }: Scheduled): [string, string][] {
  // An unescaped percent sign ends the command in a crontab.
  const script = shellWord(join(directory, 'deploy/evidence-cron.sh')).replaceAll('%', '\\%');
  const program = PROGRAM.map(shellWord).join(' ');
  const words = { folder: shellWord(directory), keyFile: keyFileOf(files), program, script, restamps };
  return ['crontab', 'evidence-cron.sh'].map((name) => [`deploy/${name}`, fillTemplate(name, words)]);
}

function systemdTexts({ directory, restamps, files, workDirectory }: Scheduled): [string, string][] {
  const program = PROGRAM.map(systemdWord).join(' ');
  const folder = directory.replaceAll('%', '%%');
  const isWorkShared = workDirectory !== null && /^\/(var\/)?tmp(\/|$)/.test(resolve(directory, workDirectory));
  const words = { folder, keyFile: keyFileOf(files), program, restamps, user: readOperator().user, isWorkShared };
  const jobs = ['evidence-export', 'evidence-upkeep'];
  const names = jobs.flatMap((job) => [`${job}.service`, `${job}.timer`]);
  return names.map((name) => [`deploy/${name}`, fillTemplate(name, words)]);
}

/** Returns null if evidence.yaml sets the file: a variable would take precedence over it. */
function keyFileOf({ apiKey }: NamedFiles): string | null {
  return apiKey === null ? KEY_FILE : null;
}

/** Folder of evidence.yaml in a container; its relative paths are resolved from here. */
const MOUNTED_IN = '/evidence';

function kubernetesTexts({ isInFolder, restamps, files, workDirectory }: Scheduled): [string, string][] {
  const named = [...(files.apiKey === null ? [] : [files.apiKey]), ...files.files];
  const mounts = named.map((given, index) => ({
    given: shellWord(given),
    key: `${index + 1}-${basename(given).replace(/[^A-Za-z0-9._-]/g, '_')}`,
    path: JSON.stringify(posix.resolve(MOUNTED_IN, given)),
  }));
  const folder = files.sealKeyFolder;
  const sealKeys =
    folder === null ? null : { given: shellWord(folder), path: JSON.stringify(posix.resolve(MOUNTED_IN, folder)) };
  const words = {
    isInFolder,
    restamps,
    version: readTool().version,
    isKeyNamed: files.apiKey !== null,
    mounts,
    sealKeys,
    work: workDirectory === null ? '/work' : JSON.stringify(posix.resolve(MOUNTED_IN, workDirectory)),
  };
  return [['deploy/cronjob.yaml', fillTemplate('cronjob.yaml', words)]];
}
