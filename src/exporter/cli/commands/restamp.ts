import { EvidenceError } from '../../../core/errors.ts';
import { formatTable } from '../../../core/terminal/table.ts';
import type { Archive } from '../../../verifier/archive/archive.ts';
import { runIdOf, runRecordKey } from '../../../verifier/records/keys.ts';
import { EXIT_CODE_OF, worstOf } from '../../../verifier/records/outcome.ts';
import { type Restamped, restampRun } from '../../export/restamp.ts';
import type { CommandContext } from '../command.ts';
import { loadConfig } from '../config/config.ts';
import { openStamping } from '../config/signing.ts';
import { openArchive } from '../config/store.ts';
import { readOperator } from '../config/tool.ts';
import type { RestampFlags } from '../flags.ts';
import { readDays } from '../output/days.ts';

const OUTCOMES = { stamped: 'verified', 'not-due': 'verified', failed: 'incomplete', refuted: 'refuted' } as const;

/** Stamps finalized runs anew while the tokens that they have still hold. */
export async function runRestamp(flags: RestampFlags, context: CommandContext): Promise<number> {
  const { printer, signal, directory, environment } = context;
  if ((flags.run !== undefined) === (flags.all === true))
    throw new EvidenceError('usage', 'name one run, or all of them with --all');
  const now = new Date();
  const before = new Date(now.getTime() + readDays('--within', flags.within));
  const config = await loadConfig(flags, environment, directory);
  const stamping = openStamping(config, context);
  if (stamping === null)
    throw new EvidenceError('config', 'no time-stamping authority is configured', {
      nextStep: 'Set sign.tsa_url and sign.tsa_roots in evidence.yaml.',
    });
  const archive = await openArchive(config, context, false);
  try {
    if (archive === null)
      throw new EvidenceError('not-found', `there is no archive at ${config.archiveUrl}`, {
        nextStep: 'Name the archive with --archive or archive.url.',
      });
    const orderedBy = readOperator();
    const runs: Restamped[] = [];
    for (const runId of flags.run === undefined ? await listFinalized(archive) : [flags.run]) {
      signal.throwIfAborted();
      runs.push(await restampRun({ archive, stamping, before, now, orderedBy, signal }, runId));
    }
    const exitCode = EXIT_CODE_OF[worstOf(runs.map(({ state }) => OUTCOMES[state]))];
    printer.document({ exit_code: exitCode, runs });
    for (const line of format(runs)) printer.result(line);
    return exitCode;
  } finally {
    await stamping.authority.close();
    await archive?.close();
  }
}

async function listFinalized(archive: Archive): Promise<string[]> {
  const finalized: string[] = [];
  for await (const { key } of archive.list('runs/')) {
    const runId = runIdOf(key);
    if (runId !== null && key === runRecordKey(runId)) finalized.push(runId);
  }
  return finalized;
}

function format(runs: readonly Restamped[]): string[] {
  if (runs.length === 0) return ['The archive has no finalized run.'];
  const columns = [{ title: 'run' }, { title: 'time-stamp' }, { title: 'holds until' }];
  const table = formatTable(
    columns,
    runs.map(({ run_id, state, until }) => [run_id, state, until ?? '–']),
  );
  const reasons = runs.flatMap(({ run_id, reason, next_step }) =>
    reason === null ? [] : [`${run_id}: ${reason}`, `  ${next_step ?? ''}`],
  );
  return [...table.split('\n'), ...reasons];
}
