import { agree, plural } from '../../core/plurals.ts';
import { disagreementsIn } from '../records/run-algebra.ts';
import type { ArchiveContext, ArchiveReading } from './archive-reading.ts';
import type { RunCheck } from './run.ts';
import type { RunContext } from './stream.ts';

/** Warns a reader who would take the report for all that there is. */
export function warnOfUnread(
  { from = null, identities = null }: Pick<ArchiveContext, 'from' | 'identities'>,
  { checks, holdLog }: Pick<ArchiveReading, 'checks' | 'holdLog'>,
): string[] {
  return [
    ...(from === null ? [] : [`Runs before ${from} were not looked at.`]),
    ...checks.flatMap(({ runId, record }) => warnOfGrown(runId, record)),
    ...checks.flatMap((check) => check.attestations?.warnings ?? []),
    ...warnOfEncrypted(checks, identities),
    ...[...holdLog.values()].flatMap((check) => check.warnings),
  ];
}

/** Warns of claims that nobody recomputed, which would be taken for proved, and of keys that opened nothing. */
function warnOfEncrypted(checks: readonly RunCheck[], identities: RunContext['identities']): string[] {
  const who =
    identities === null
      ? 'A recipient proves them with --identity.'
      : 'None of the identities that were given opens them: name that of a recipient with --identity.';
  const warnings = checks.flatMap(({ runId, streams }) => {
    const unopened = streams.filter(({ encrypted }) => encrypted).length;
    if (unopened === 0) return [];
    return [
      `Run ${runId}: ${unopened} of ${plural(streams.length, 'bundle')} ${agree(unopened, 'is encrypted and was', 'are encrypted and were')} not opened here. What lies there is what was archived; of the claims in it there is only what the run recorded. ${who}`,
    ];
  });
  const stored = checks.flatMap(({ streams }) => streams);
  if (identities !== null && !stored.some(({ bundle }) => bundle.encrypted !== undefined))
    warnings.push('No bundle that was looked at is encrypted: the identities that were given opened nothing.');
  return warnings;
}

/** Streams of a resumed run of which the service had more when it was finalized than when they were received. */
function warnOfGrown(runId: string, record: RunCheck['record']): string[] {
  const grown = record === null ? [] : disagreementsIn(record).filter(({ kind }) => kind === 'grown');
  return grown.map(({ stream_id, message }) => `Run ${runId}, stream "${stream_id}": ${message}.`);
}
