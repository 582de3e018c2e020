import type { SpanEntries } from '../claims/span-schema.ts';
import type { Acceptance, RunStream } from '../records/record.ts';
import type { VerifiedBundle } from './content.ts';
import type { History } from './history.ts';
import { type ObjectFinding, toObjectFinding } from './object-finding.ts';
import { sameRecord } from './same-record.ts';

/** What the ledger says of the past of all streams. */
export interface LedgerPast {
  history: History;
  /** Whether the ledger names this acceptance. */
  isAccepted(acceptance: Omit<Acceptance, 'format'>): boolean;
}

/** What a bundle says of the past of its stream must be what the ledger says. */
export function checkPast(
  context: LedgerPast,
  stream: RunStream,
  verified: Pick<VerifiedBundle, 'earlier' | 'restarts'>,
): ObjectFinding[] {
  return [...checkEarlier(context, stream, verified), ...checkAccepted(context, stream, verified)];
}

function checkEarlier(
  { history }: LedgerPast,
  { stream_id, bundle }: RunStream,
  { earlier, restarts }: Pick<VerifiedBundle, 'earlier' | 'restarts'>,
): ObjectFinding[] {
  const isKnown = (span: VerifiedBundle['earlier'][number]) => {
    const known = history.spanOf(span.run_id, stream_id);
    if (known === undefined || !span.part) return known !== undefined && sameRecord(span, known);
    // What a part says follows from that run's bundle, which is compared with this one where it is read.
    return span.entries !== null && known.entries !== null && isWithin(span.entries, known.entries);
  };
  return [...earlier, ...restarts.flatMap((restart) => restart.earlier)]
    .filter((span) => !isKnown(span))
    .map(({ run_id }) =>
      toObjectFinding(
        'verdict/differs',
        bundle.key,
        `was compared with entries of run ${run_id} that the ledger does not have`,
      ),
    );
}

/** What was accepted of the stream must be what the ledger names. */
function checkAccepted(
  { isAccepted }: LedgerPast,
  { stream_id, bundle }: RunStream,
  { restarts }: Pick<VerifiedBundle, 'restarts'>,
): ObjectFinding[] {
  return restarts
    .filter(({ earlier: _earlier, ...accepted }) => !isAccepted({ stream_id, ...accepted }))
    .map(({ accepted_at }) =>
      toObjectFinding(
        'verdict/differs',
        bundle.key,
        `names an acceptance of ${accepted_at} that the ledger does not have`,
      ),
    );
}

function isWithin(inner: SpanEntries, outer: SpanEntries): boolean {
  return inner.first_sequence >= outer.first_sequence && inner.head.sequence <= outer.head.sequence;
}
