import type { Rows } from '../../core/rows/rows.ts';
import { isEarlierRevision } from '../ledger/given-up.ts';
import { EXIT_CODE_OF } from '../records/outcome.ts';
import type { RunRecord } from '../records/record.ts';
import { countRunStreams, disagreementsIn, toRunOutcome } from '../records/run-algebra.ts';
import { exclusionOf } from '../records/stream-glob.ts';
import { countSupplements } from '../records/supplements.ts';
import { type ObjectFinding, recordDiffers, toObjectFinding } from './object-finding.ts';
import { sameRecord } from './recorded-stream.ts';
import type { RunContext, VerifiedStream } from './stream.ts';

/** Checks that a run record does not contradict itself. */
export function checkRecord(record: RunRecord, runId: string, key: string): ObjectFinding[] {
  const findings = checkAlgebra(record, key);
  if (record.run_id !== runId) findings.push(recordDiffers(key, `is the record of run ${record.run_id}`));
  for (const earlier of record.supersedes.filter((id) => !isEarlierRevision(id, runId)))
    findings.push(recordDiffers(key, `replaces run ${earlier}, which has another name`));
  const told = new Set([...record.streams, ...record.failed, ...record.excluded].map(({ stream_id }) => stream_id));
  const untold = record.stream_list.streams.filter(({ stream_id }) => !told.has(stream_id));
  const [first] = untold;
  if (first !== undefined)
    findings.push(recordDiffers(key, `lists the stream "${first.stream_id}", but does not say what became of it`));
  return [...findings, ...checkSums(record, key)];
}

/** Derives the outcome, exit code, counts and exclusions of a run from its streams, and compares all of them. */
function checkSums(record: RunRecord, key: string): ObjectFinding[] {
  const outcome = toRunOutcome(record, record.supplements);
  const counts = { ...countRunStreams(record), supplements: countSupplements(record.supplements) };
  const uncalledFor = record.excluded.find(({ stream_id }) => exclusionOf(stream_id, record.scope) === null);
  const differs = (isWrong: boolean, message: string, expected: unknown, actual: unknown): ObjectFinding[] =>
    isWrong ? [recordDiffers(key, message, { expected: toText(expected), actual: toText(actual) })] : [];
  return [
    ...differs(
      record.outcome !== outcome,
      `states the outcome ${record.outcome}, which its own streams contradict`,
      record.outcome,
      outcome,
    ),
    ...differs(
      record.exit_code !== EXIT_CODE_OF[record.outcome],
      `states the exit code ${record.exit_code}, which does not match its outcome`,
      record.exit_code,
      EXIT_CODE_OF[record.outcome],
    ),
    ...differs(
      !sameRecord(record.reconciliation, counts),
      'its reconciliation does not count its streams and supplements',
      record.reconciliation,
      counts,
    ),
    ...differs(
      uncalledFor !== undefined,
      `leaves out the stream "${uncalledFor?.stream_id}", which its scope does not exclude`,
      uncalledFor?.pattern ?? 'not named',
      'in scope',
    ),
  ];
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Maximum number of disagreements reported one by one: a forged record may have a hundred thousand. */
const MOST_NAMED = 1000;

/** Checks relations within the record, except for streams whose own verdict reports the violation. */
function checkAlgebra(record: RunRecord, key: string): ObjectFinding[] {
  const refuted = new Set(record.streams.flatMap(({ stream_id, status }) => (status === 'refuted' ? [stream_id] : [])));
  const wrong = disagreementsIn(record).filter(
    ({ kind, stream_id }) => kind === 'impossible' || (kind === 'contradicts' && !refuted.has(stream_id ?? '')),
  );
  const named = wrong.slice(0, MOST_NAMED).map(({ stream_id, message }) => {
    return stream_id === null ? message : `the stream "${stream_id}": ${message}`;
  });
  if (wrong.length > named.length) named.push(`has ${wrong.length - named.length} more inconsistent streams`);
  return named.map((message) => recordDiffers(key, message));
}

/** Finds streams in scope that a package of the account holds, but neither the list of streams nor the run names. */
export function checkHidden(record: RunRecord, streams: readonly VerifiedStream[], key: string): ObjectFinding[] {
  const { scope, stream_list, vanished } = record;
  const told = new Set([...stream_list.streams, ...vanished].map(({ stream_id }) => stream_id));
  const held = new Set(streams.flatMap(({ others }) => others));
  return [...held]
    .filter((streamId) => !told.has(streamId) && exclusionOf(streamId, scope) === null)
    .map((streamId) =>
      toObjectFinding(
        'history/gap',
        key,
        `the run has entries of the stream "${streamId}", which the list of streams lacks, and does not report it`,
      ),
    );
}

/** Checks that each stream reported as vanished was seen by an earlier run, or by an earlier attempt of this one. */
export function checkVanished(context: RunContext, record: RunRecord, key: string): ObjectFinding[] {
  return [...record.vanished, ...record.ended]
    .filter(({ stream_id, head: { run_id, sequence, hash } }) => {
      const own = record.streams.find((stream) => run_id === record.run_id && stream.stream_id === stream_id);
      const head = own === undefined ? context.headOf(run_id, stream_id) : own.head;
      return head?.sequence !== sequence || head.hash !== hash;
    })
    .map(({ stream_id }) =>
      recordDiffers(key, `reports the stream "${stream_id}" as gone with a head that the ledger does not have`),
    );
}

/** Finds each stream in scope that the ledger had at the start of the run, and that the run does not mention. */
export function checkMissed(context: RunContext, record: RunRecord, key: string): ObjectFinding[] {
  const { scope, stream_list, streams, vanished, ended } = record;
  const told = new Set([stream_list.streams, streams, vanished, ended].flatMap(idsOf));
  return Array.from(context.headsBefore(record))
    .filter(([streamId]) => !told.has(streamId) && exclusionOf(streamId, scope) === null)
    .map(([streamId, { run_id, sequence }]) =>
      toObjectFinding(
        'history/gap',
        key,
        `run ${run_id} has entries of the stream "${streamId}" up to ${sequence}, but this run neither lists it nor reports it as vanished or ended`,
      ),
    );
}

function idsOf(streams: Rows<{ stream_id: string }>): string[] {
  return streams.map(({ stream_id }) => stream_id);
}
