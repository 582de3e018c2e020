import yargs from 'yargs';
import { exitCodeOf, exitCodeOfError } from '../../core/terminal/exit.ts';
import { parseSaying } from '../../core/terminal/help.ts';
import { Printer } from '../../core/terminal/printer.ts';
import { ChosenCommand, run } from './chosen-command.ts';
import type { Command } from './command.ts';
import { type CompletionFlags, completionFlags } from './commands/completion-flags.ts';
import { demoFlags } from './commands/demo-flags.ts';
import { doctorFlags } from './commands/doctor-flags.ts';
import { exportFlags } from './commands/export-flags.ts';
import { type HelpFlags, helpFlags } from './commands/help-flags.ts';
import { extendFlags, holdFlags, releaseFlags } from './commands/hold-flags.ts';
import { initFlags } from './commands/init-flags.ts';
import { keygenFlags } from './commands/keygen-flags.ts';
import { ledgerFlags } from './commands/ledger-flags.ts';
import { probeFlags } from './commands/probe-flags.ts';
import { restampFlags } from './commands/restamp-flags.ts';
import { runsFlags } from './commands/runs-flags.ts';
import { shareFlags } from './commands/share-flags.ts';
import { streamsFlags } from './commands/streams-flags.ts';
import { verifyFlags } from './commands/verify-flags.ts';
import { keepSecretsOf } from './config/secrets.ts';
import { readTool } from './config/tool.ts';
import { holdThenLoad } from './heap.ts';
import { listOfTopics } from './output/topics.ts';

// npm runs a script in the package's folder; relative paths mean the folder where the user stands.
const ownScript = process.env['npm_lifecycle_event'];
if ((ownScript === 'evidence' || ownScript === 'start') && process.env['INIT_CWD'] !== undefined)
  process.chdir(process.env['INIT_CWD']);

/** What the parser complains of. */
class Complaint extends Error {}

async function loadHelp(): Promise<Command<HelpFlags>> {
  const [{ explainWith }, { helpOn }] = await Promise.all([
    import('./commands/help.ts'),
    import('../../core/terminal/usage.ts'),
  ]);
  return explainWith((command) => helpOn(makeParser(), command));
}

async function loadCompletion(): Promise<Command<CompletionFlags>> {
  const [{ completeWith }, { helpOn }] = await Promise.all([
    import('./commands/completion.ts'),
    import('../../core/terminal/usage.ts'),
  ]);
  return completeWith((command) => helpOn(makeParser(), command));
}

/** The parser; once it has complained of something it is of no use any more. */
const makeParser = () =>
  yargs(process.argv.slice(2))
    .scriptName('evidence')
    .wrap(null)
    // All else that is printed is English.
    .locale('en')
    .usage(
      '$0 <command>\n\nTakes audit evidence out of an audit service, proves what can be proved about it, archives it.',
    )
    .options({
      json: { type: 'boolean', global: true, describe: 'one JSON document on stdout' },
      quiet: { type: 'boolean', global: true, describe: 'no progress' },
      verbose: {
        ...{ type: 'boolean', global: true, alias: 'v' },
        describe: 'every request, retry and step on stderr; every stream in tables',
      },
    })
    .alias({ h: 'help', V: 'version' })
    .command(
      'export',
      'export a period into the archive',
      exportFlags,
      run(async () => holdThenLoad(() => import('./commands/export.ts')).then((work) => work.runExport)),
    )
    .command(
      'verify [targets..]',
      'verify archives, runs, bundles and packages',
      verifyFlags,
      run(async () => (await import('./commands/verify.ts')).runVerify, 'targets'),
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
      'ledger <action> [stream]',
      'record why a stream was ended or began anew',
      ledgerFlags,
      run(async () => (await import('./commands/ledger.ts')).runLedger, 'action', 'stream'),
    )
    .command(
      'keygen',
      'make a key pair to sign runs with',
      keygenFlags,
      run(async () => (await import('./commands/keygen.ts')).runKeygen),
    )
    .command(
      'restamp [run]',
      "renew the time-stamps of runs before an authority's certificate ends",
      restampFlags,
      run(async () => (await import('./commands/restamp.ts')).runRestamp, 'run'),
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
      run(async () => holdThenLoad(() => import('./commands/share.ts')).then((work) => work.runShare), 'run'),
    )
    .command(
      'doctor',
      'check everything that an export needs',
      doctorFlags,
      run(async () => (await import('./commands/doctor.ts')).runDoctor),
    )
    .command(
      'hold <run>',
      'put a run on legal hold',
      holdFlags,
      run(async () => (await import('./commands/holds.ts')).runHold, 'run'),
    )
    .command(
      'release <run>',
      'lift the legal hold of a run',
      releaseFlags,
      run(async () => (await import('./commands/holds.ts')).runRelease, 'run'),
    )
    .command(
      'extend <run>',
      'lock a run for longer',
      extendFlags,
      run(async () => (await import('./commands/holds.ts')).runExtend, 'run'),
    )
    .command('help [topic]', 'explain a topic or a command, or list the topics', helpFlags, run(loadHelp, 'topic'))
    .command(
      'completion <shell>',
      'a script that completes commands and flags, for bash, zsh or fish',
      completionFlags,
      run(loadCompletion, 'shell'),
    )
    .command('version', 'the version of this program', {}, () => {
      process.stdout.write(`${readTool().version}\n`);
    })
    .demandCommand(1, 'Name a command.')
    .strict()
    .version(readTool().version)
    .epilogue(listOfTopics())
    .exitProcess(false)
    .fail((message, error) => {
      // Thrown on, and reported once, below.
      throw error ?? new Complaint(message);
    });

const cli = makeParser();

try {
  const said = await parseSaying(cli, process.argv.slice(2));
  if (said !== '') process.stdout.write(`${said}\n`);
} catch (error) {
  if (error instanceof ChosenCommand) await error.work();
  else if (error instanceof Complaint) await answer(error);
  else refuse(error);
}

/** A bare call is answered with the help, and 2: to a script whose command is empty, 0 would say that all is verified. */
async function answer({ message }: Complaint): Promise<void> {
  const words = process.argv.slice(2);
  if (words.length === 0) {
    process.exitCode = exitCodeOf('usage');
    process.stderr.write(`${await parseSaying(makeParser(), ['--help'])}\n`);
    return;
  }
  const { helpOn, toUsageError } = await import('../../core/terminal/usage.ts');
  refuse(
    await toUsageError(message, { program: 'evidence', words, helpOn: (command) => helpOn(makeParser(), command) }),
  );
}

function refuse(error: unknown): void {
  const json = process.argv.includes('--json');
  const printer = new Printer({ json, quiet: false });
  keepSecretsOf(process.env, printer);
  printer.failure(error);
  process.exitCode = exitCodeOfError(error);
}
