import { EvidenceError } from '../../../core/errors.ts';
import { plural } from '../../../core/plurals.ts';
import { fitTable } from '../../../core/terminal/table.ts';
import { RUNS_PREFIX, runIdOf, runRecordKey } from '../../../verifier/records/keys.ts';
import { EXIT_CODE_OF, worstOf } from '../../../verifier/records/outcome.ts';
import type { Archive } from '../../archive/archive.ts';
import { foreseeRestamp, type Restamped, restampRun } from '../../export/restamp.ts';
import type { Stamping } from '../../export/stamp.ts';
import type { CommandContext } from '../command.ts';
import { loadConfig } from '../config/config.ts';
import { openStamping } from '../config/signing.ts';
import { withArchive } from '../config/stores.ts';
import { readOperator } from '../config/tool.ts';
import { readDays } from '../output/days.ts';
import type { FlagsOf } from './flags-of.ts';

const OUTCOMES = {
  stamped: 'verified',
  due: 'verified',
  'not-due': 'verified',
  failed: 'incomplete',
  refuted: 'refuted',
} as const;

/** Adds new time-stamps to finalized runs while their present tokens are still valid. */
export async function runRestamp(flags: FlagsOf<'restamp'>, context: CommandContext): Promise<number> {
  const { printer, signal, directory, environment } = context;
  if ((flags.run !== undefined) === (flags.all === true))
    throw new EvidenceError('usage', 'name one run, or give --all');
  const now = new Date();
  const before = new Date(now.getTime() + readDays('--within', flags.within));
  const config = await loadConfig(flags, environment, directory);
  const stamping = openStamping(config, context);
  if (stamping === null)
    throw new EvidenceError('config', 'no time-stamping authority is configured', {
      nextStep: 'Set sign.tsa_url and sign.tsa_roots in evidence.yaml.',
    });
  const isDry = flags['dry-run'] === true;
  const stampIn = async (archive: Archive) => {
    const deps = { archive, stamping, before, now, orderedBy: readOperator(), signal };
    const runs: Restamped[] = [];
    for (const runId of flags.run === undefined ? await listFinalized(archive) : [flags.run]) {
      signal.throwIfAborted();
      runs.push(await (isDry ? foreseeRestamp : restampRun)(deps, runId));
    }
    const exit_code = EXIT_CODE_OF[worstOf(runs.map(({ state }) => OUTCOMES[state]))];
    if (isDry) printer.document('evidence-restamp-dry-run/1', { dry_run: true, exit_code, runs });
    else printer.document('evidence-restamp/1', { exit_code, runs });
    for (const line of format(runs)) printer.result(line);
    if (isDry) for (const line of foresee(runs, stamping)) printer.result(line);
    return exit_code;
  };
  return withArchive(config.archive, context, stampIn).finally(() => stamping.authority.close());
}

async function listFinalized(archive: Archive): Promise<string[]> {
  const finalized: string[] = [];
  for await (const { key } of archive.list(RUNS_PREFIX)) {
    const runId = runIdOf(key);
    if (runId !== null && key === runRecordKey(runId)) finalized.push(runId);
  }
  return finalized;
}

function format(runs: readonly Restamped[]): string[] {
  if (runs.length === 0) return ['The archive has no finalized runs.'];
  const columns = [{ title: 'run' }, { title: 'time-stamp' }, { title: 'holds until' }];
  const table = fitTable(
    columns,
    runs.map(({ run_id, state, until }) => [run_id, state, until ?? '–']),
  );
  const reasons = runs.flatMap(({ run_id, reason, next_step }) =>
    reason === null ? [] : [`${run_id}: ${reason}`, `  ${next_step ?? ''}`],
  );
  return [...table.split('\n'), ...reasons];
}

function foresee(runs: readonly Restamped[], { authority }: Stamping): string[] {
  const due = runs.filter(({ state }) => state === 'due').length;
  if (due === 0) return ['No run needs a time-stamp. Nothing was written.'];
  return [
    `Would request ${plural(due, 'token')} from ${authority.shown}. Each token would be kept with its run forever, with a record of who ordered it.`,
    'No command can undo this. Nothing was requested or written.',
  ];
}
