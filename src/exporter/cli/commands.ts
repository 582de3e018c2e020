import type { Argv } from 'yargs';
import type { Command } from './command.ts';
import {
  extendFlags,
  holdFlags,
  ledgerFlags,
  releaseFlags,
  restampFlags,
  runsFlags,
  shareFlags,
} from './commands/archive-flags.ts';
import { exportFlags, statusFlags, streamsFlags, workerFlags } from './commands/export-flags.ts';
import { completionFlags, helpFlags } from './commands/help-flags.ts';
import { demoFlags, doctorFlags, initFlags, keygenFlags, probeFlags } from './commands/setup-flags.ts';
import { verifyFlags } from './commands/verify-flags.ts';

/** Returns the help on a command; on the program for null. */
export type HelpOn = (command: string | null) => Promise<string>;

/** Dependencies for loading a command's work. */
export interface Given {
  helpOn: HelpOn;
}

export interface CommandRow {
  /** Name and positional arguments. */
  usage: string;
  describe: string;
  flags: (argv: Argv) => Argv;
  /**
   * Loads the work of the command. It is in another file than the flags, because a single command takes longer to load
   * than all of `--help`.
   */
  load: (given: Given) => Promise<Command<object>>;
  /** Names of the positional arguments. */
  operands: readonly string[];
}

function command<Flags extends object>(
  usage: string,
  describe: string,
  flags: (argv: Argv) => Argv<Flags>,
  load: (given: Given) => Promise<Command<never>>,
): CommandRow {
  const operands = [...usage.matchAll(/[<[](\w+)/g)].map(([, name = '']) => name);
  return { usage, describe, flags, load: load as CommandRow['load'], operands };
}

export const COMMANDS: readonly CommandRow[] = [
  command(
    'export',
    'export a period into the archive',
    exportFlags,
    async () => (await import('./commands/export.ts')).runExport,
  ),
  command(
    'verify [targets..]',
    'verify archives, runs, bundles and packages',
    verifyFlags,
    async () => (await import('./commands/verify.ts')).runVerify,
  ),
  command(
    'streams',
    "the service's streams",
    streamsFlags,
    async () => (await import('./commands/streams.ts')).runStreams,
  ),
  command(
    'probe',
    "find out a service's contract and write the contract file",
    probeFlags,
    async () => (await import('./commands/probe.ts')).runProbe,
  ),
  command(
    'demo',
    'a first export, of what really happened on this machine',
    demoFlags,
    async () => (await import('./commands/demo.ts')).runDemo,
  ),
  command(
    'ledger <action> [stream]',
    'record why a stream was ended or began anew, or a new signing key',
    ledgerFlags,
    async () => (await import('./commands/ledger.ts')).runLedger,
  ),
  command(
    'keygen',
    'make a key pair to sign runs with',
    keygenFlags,
    async () => (await import('./commands/keygen.ts')).runKeygen,
  ),
  command(
    'restamp [run]',
    "renew the time-stamps of runs before an authority's certificate ends",
    restampFlags,
    async () => (await import('./commands/restamp.ts')).runRestamp,
  ),
  command(
    'init',
    'write a first configuration, and policies for the bucket',
    initFlags,
    async () => (await import('./commands/init.ts')).runInit,
  ),
  command(
    'runs [action] [run]',
    'what was exported so far, and how long it is locked; give up a run that was begun',
    runsFlags,
    async () => (await import('./commands/runs.ts')).runRuns,
  ),
  command(
    'share <run>',
    'hand a run to an auditor, with a letter',
    shareFlags,
    async () => (await import('./commands/share.ts')).runShare,
  ),
  command(
    'doctor',
    'check everything that an export needs',
    doctorFlags,
    async () => (await import('./commands/doctor.ts')).runDoctor,
  ),
  command(
    'worker',
    'export streams of distributed runs',
    workerFlags,
    async () => (await import('./commands/worker.ts')).runWorkerCommand,
  ),
  command(
    'status [run]',
    'show the progress of distributed runs',
    statusFlags,
    async () => (await import('./commands/status.ts')).runStatus,
  ),
  command(
    'hold <run>',
    'put a run on legal hold',
    holdFlags,
    async () => (await import('./commands/holds.ts')).runHold,
  ),
  command(
    'release <run>',
    'lift the legal hold of a run',
    releaseFlags,
    async () => (await import('./commands/holds.ts')).runRelease,
  ),
  command(
    'extend <run>',
    'lock a run for longer',
    extendFlags,
    async () => (await import('./commands/holds.ts')).runExtend,
  ),
  command('help [topic]', 'explain a topic or a command, or list the topics', helpFlags, async ({ helpOn }) =>
    (await import('./commands/help.ts')).explainWith(helpOn),
  ),
  command(
    'completion <shell>',
    'a script that completes commands, flags and values, for bash, zsh or fish',
    completionFlags,
    async ({ helpOn }) => (await import('./commands/completion.ts')).completeWith(helpOn),
  ),
  command(
    'version',
    'the version of this program',
    (argv) => argv,
    async () => (await import('./commands/version.ts')).runVersion,
  ),
];
