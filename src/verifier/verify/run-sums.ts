import { isEarlierRevision } from '../ledger/given-up.ts';
import type { RunRecord } from '../records/record.ts';
import { disagreementsIn } from '../records/run-algebra.ts';
import { countSupplements, outcomesOfSupplements } from '../records/supplements.ts';
import { type ObjectFinding, toObjectFinding } from './object-finding.ts';
import { sameRecord } from './recorded-stream.ts';

/** What a run record says in two places must agree. */
export function checkRecord(record: RunRecord, runId: string, key: string): ObjectFinding[] {
  const findings = checkAlgebra(record, key);
  const { listed, exported, partial, failed, empty, excluded } = record.reconciliation;
  if (record.run_id !== runId)
    findings.push(toObjectFinding('record/differs', key, `is the record of run ${record.run_id}`));
  for (const earlier of record.supersedes.filter((id) => !isEarlierRevision(id, runId)))
    findings.push(
      toObjectFinding('record/differs', key, `takes the place of run ${earlier}, which is of another name`),
    );
  if (listed !== exported + partial + failed + empty + excluded)
    findings.push(toObjectFinding('record/differs', key, 'its reconciliation does not add up'));
  if (!sameRecord(record.reconciliation.supplements, countSupplements(record.supplements)))
    findings.push(toObjectFinding('record/differs', key, 'its reconciliation does not count its supplements'));
  const gone = new Set(record.vanished.map(({ stream_id }) => stream_id));
  if (exported + partial + empty !== record.streams.filter(({ stream_id }) => !gone.has(stream_id)).length)
    findings.push(toObjectFinding('record/differs', key, 'its reconciliation does not count its streams'));
  const told = new Set([...record.streams, ...record.failed, ...record.excluded].map(({ stream_id }) => stream_id));
  const untold = record.stream_list.streams.filter(({ stream_id }) => !told.has(stream_id));
  const [first] = untold;
  if (first !== undefined)
    findings.push(
      toObjectFinding(
        'record/differs',
        key,
        `lists the stream "${first.stream_id}", and does not say what became of it`,
      ),
    );
  const ofSupplements = outcomesOfSupplements(record.supplements);
  const isRefuted =
    gone.size > 0 || [...record.streams.map(({ status }) => status), ...ofSupplements].includes('refuted');
  if ((record.outcome === 'refuted') !== isRefuted)
    findings.push(
      toObjectFinding(
        'record/differs',
        key,
        `states the outcome ${record.outcome}, which its own streams do not come to`,
      ),
    );
  return findings;
}

/** A record that somebody made up may have a hundred thousand of them. */
const MOST_NAMED = 1000;

/** Relations within the record that do not hold, but for streams whose own verdict says so. */
function checkAlgebra(record: RunRecord, key: string): ObjectFinding[] {
  const refuted = new Set(record.streams.flatMap(({ stream_id, status }) => (status === 'refuted' ? [stream_id] : [])));
  const wrong = disagreementsIn(record).filter(
    ({ kind, stream_id }) => kind === 'impossible' || (kind === 'contradicts' && !refuted.has(stream_id ?? '')),
  );
  const named = wrong.slice(0, MOST_NAMED).map(({ stream_id, message }) => {
    return stream_id === null ? message : `the stream "${stream_id}": ${message}`;
  });
  if (wrong.length > named.length) named.push(`has ${wrong.length - named.length} more streams that do not agree`);
  return named.map((message) => toObjectFinding('record/differs', key, message));
}
