import type { CommandTable, Program } from '../../core/terminal/command-table.ts';
import type { Command } from './command.ts';
import { type FlagsOf, TABLES } from './commands/flags-of.ts';

/**
 * Loads the work of a command. It is in another file than the flags, because a single command takes longer to load than
 * all of `--help`.
 */
export type Load<Flags = object> = (program: Program) => Promise<Command<Flags>>;

const LOADS: { [Name in keyof typeof TABLES]: Load<FlagsOf<Name>> } = {
  export: async () => (await import('./commands/export.ts')).runExport,
  verify: async () => (await import('./commands/verify.ts')).runVerify,
  streams: async () => (await import('./commands/streams.ts')).runStreams,
  probe: async () => (await import('./commands/probe.ts')).runProbe,
  demo: async () => (await import('./commands/demo.ts')).runDemo,
  ledger: async () => (await import('./commands/ledger.ts')).runLedger,
  keygen: async () => (await import('./commands/keygen.ts')).runKeygen,
  restamp: async () => (await import('./commands/restamp.ts')).runRestamp,
  init: async () => (await import('./commands/init.ts')).runInit,
  runs: async () => (await import('./commands/runs.ts')).runRuns,
  share: async () => (await import('./commands/share.ts')).runShare,
  doctor: async () => (await import('./commands/doctor.ts')).runDoctor,
  worker: async () => (await import('./commands/worker.ts')).runWorkerCommand,
  status: async () => (await import('./commands/status.ts')).runStatus,
  hold: async () => (await import('./commands/holds.ts')).runHold,
  release: async () => (await import('./commands/holds.ts')).runRelease,
  extend: async () => (await import('./commands/holds.ts')).runExtend,
  help: async (program) => (await import('./commands/help.ts')).explainWith(program),
  completion: async (program) => (await import('./commands/completion.ts')).completeWith(program),
  version: async () => (await import('./commands/version.ts')).runVersion,
};

export const COMMANDS: Readonly<Record<string, CommandTable<Load>>> = Object.fromEntries(
  Object.entries(LOADS).map(([name, load]) => [name, { ...TABLES[name as keyof typeof TABLES], work: load as Load }]),
);
