import yargs from 'yargs';
import { EvidenceError } from '../../core/errors.ts';
import { EXIT_CODES, exitCodeOfError } from '../../core/terminal/exit.ts';
import { Printer } from '../../core/terminal/printer.ts';
import { carryOut } from './carry-out.ts';
import type { Command } from './command.ts';
import { keepSecretsOf } from './config/secrets.ts';
import { readTool } from './config/tool.ts';
import {
  demoFlags,
  doctorFlags,
  exportFlags,
  extendFlags,
  helpFlags,
  holdFlags,
  initFlags,
  keygenFlags,
  ledgerFlags,
  probeFlags,
  restampFlags,
  runsFlags,
  shareFlags,
  streamsFlags,
  verifyFlags,
} from './flags.ts';
import { onInterruption } from './interruption.ts';

// npm runs a script in the package's folder; relative paths mean the folder where the user stands.
const ownScript = process.env['npm_lifecycle_event'];
if ((ownScript === 'evidence' || ownScript === 'start') && process.env['INIT_CWD'] !== undefined)
  process.chdir(process.env['INIT_CWD']);

/** Runs a command between printer and interruption; here alone the exit code of the process is set. */
function run<Flags extends object>(load: () => Promise<Command<Flags>>) {
  return async (flags: unknown): Promise<void> => {
    const { json, quiet } = flags as { json?: boolean; quiet?: boolean };
    const interruption = onInterruption();
    const context = {
      printer: new Printer({ json: json === true, quiet: quiet === true }),
      signal: interruption.signal,
      directory: process.cwd(),
      environment: process.env,
    };
    const codeOf = (reason: unknown) => interruption.exitCode() ?? exitCodeOfError(reason);
    try {
      process.exitCode = await carryOut(load, flags as Flags, context, codeOf);
    } finally {
      interruption.dispose();
    }
  };
}

const cli = yargs(process.argv.slice(2))
  .scriptName('evidence')
  // All else that is printed is English.
  .locale('en')
  .usage(
    '$0 <command>\n\nTakes audit evidence out of an audit service, proves what can be proved about it, archives it.',
  )
  .options({
    json: { type: 'boolean', global: true, describe: 'one JSON document on stdout' },
    quiet: { type: 'boolean', global: true, describe: 'no progress' },
  })
  .command(
    'export',
    'export a period into the archive',
    exportFlags,
    run(async () => (await import('./commands/export.ts')).runExport),
  )
  .command(
    'verify <target>',
    'verify what was archived, anew',
    verifyFlags,
    run(async () => (await import('./commands/verify.ts')).runVerify),
  )
  .command(
    'streams',
    "the service's streams",
    streamsFlags,
    run(async () => (await import('./commands/streams.ts')).runStreams),
  )
  .command(
    'probe',
    "find out a service's contract and write the contract file",
    probeFlags,
    run(async () => (await import('./commands/probe.ts')).runProbe),
  )
  .command(
    'demo',
    'a first export, of what really happened on this machine',
    demoFlags,
    run(async () => (await import('./commands/demo.ts')).runDemo),
  )
  .command(
    'ledger <action> <stream>',
    'record why a stream was ended or began anew',
    ledgerFlags,
    run(async () => (await import('./commands/ledger.ts')).runLedger),
  )
  .command(
    'keygen',
    'make a key pair to sign runs with',
    keygenFlags,
    run(async () => (await import('./commands/keygen.ts')).runKeygen),
  )
  .command(
    'restamp [run]',
    "time-stamp finalized runs anew before an authority's certificate ends",
    restampFlags,
    run(async () => (await import('./commands/restamp.ts')).runRestamp),
  )
  .command(
    'init',
    'write a first configuration, and policies for the bucket',
    initFlags,
    run(async () => (await import('./commands/init.ts')).runInit),
  )
  .command(
    'runs',
    'what was exported so far, and how long it is locked',
    runsFlags,
    run(async () => (await import('./commands/runs.ts')).runRuns),
  )
  .command(
    'share <run>',
    'hand a run to an auditor, with a letter',
    shareFlags,
    run(async () => (await import('./commands/share.ts')).runShare),
  )
  .command(
    'doctor',
    'look at everything that an export rests on',
    doctorFlags,
    run(async () => (await import('./commands/doctor.ts')).runDoctor),
  )
  .command(
    'hold <run>',
    'put a run on legal hold',
    holdFlags,
    run(async () => (await import('./commands/custody.ts')).runHold),
  )
  .command(
    'release <run>',
    'take the legal hold of a run away',
    holdFlags,
    run(async () => (await import('./commands/custody.ts')).runRelease),
  )
  .command(
    'extend <run>',
    'lock a run for longer',
    extendFlags,
    run(async () => (await import('./commands/custody.ts')).runExtend),
  )
  .command('help <topic>', 'explain exit-codes', helpFlags, () => {
    process.stdout.write(
      `${EXIT_CODES.map(([code, meaning]) => `${String(code).padStart(3)}  ${meaning}`).join('\n')}\n`,
    );
  })
  .demandCommand(1, 'Name a command.')
  .strict()
  .recommendCommands()
  .version(readTool().version)
  .epilogue('`evidence help exit-codes` explains the exit codes.')
  .exitProcess(false)
  .fail((message, error) => {
    // Thrown on, and reported once, below.
    throw error ?? new EvidenceError('usage', withoutValues(message), { nextStep: 'See `evidence --help`.' });
  });

/** What the parser says in one line, without what was given: that may be a secret in a wrong place. */
function withoutValues(message: string): string {
  return message
    .replace(/\s*\n\s*/g, ' ')
    .replace(/^Not enough non-option arguments.*$/, 'An argument of this command is missing')
    .replace(/Given: .*?, Choices/g, 'Choices')
    .replace(/^(Unknown \w+: )(.*)$/, (_all, lead: string, names: string) => {
      const isName = (name: string) => /^[A-Za-z][A-Za-z-]{0,23}$/.test(name);
      const shown = names.split(', ').map((name) => (isName(name) ? name : 'a word that is not expected here'));
      return `${lead}${shown.join(', ')}`;
    });
}

try {
  await cli.parseAsync();
} catch (error) {
  const json = process.argv.includes('--json');
  const printer = new Printer({ json, quiet: false });
  keepSecretsOf(process.env, printer);
  printer.failure(error);
  process.exitCode = exitCodeOfError(error);
}
