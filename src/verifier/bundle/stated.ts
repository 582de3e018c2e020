import type { Known } from '../claims/observe.ts';
import type { Collected, ServiceStatement, StreamStatementDocument } from '../claims/stated-schema.ts';
import type { TransferLog } from './documents.ts';

/** A service may name every entry that it has. */
const MAX_FAILED = 100;

export function collectedIn({
  export_started_at,
  received_at,
  steps,
}: Pick<TransferLog, 'export_started_at' | 'received_at' | 'steps'>): Collected {
  const requests = steps.flatMap(({ exchange }) => (exchange === undefined ? [] : [exchange.requested_at]));
  return { export_started_at, requested_at: requests.sort()[0] ?? export_started_at, received_at };
}

/** @param stated by the service's list of streams. */
export function serviceStatementOf(
  { completeness, vendor }: Pick<Known, 'completeness' | 'vendor'>,
  { entries, head }: StreamStatementDocument,
): ServiceStatement {
  return {
    entries,
    head,
    listed: completeness.kind === 'listing' ? completeness.listed : null,
    verified: vendor?.verified ?? null,
    failed_sequences: vendor?.failed_sequences.slice(0, MAX_FAILED) ?? [],
  };
}
