import { z } from 'zod';
import type { Custody, Verification } from './documents.ts';

const count = z.int().min(0);

/** When a bundle's evidence was received, by the clock of who exported; RFC 3339 in UTC. */
export const collectedSchema = z.strictObject({
  /** When the export had begun that received it. */
  export_started_at: z.string(),
  /** Of its first request. */
  from: z.string(),
  /** When all had arrived. */
  to: z.string(),
});
export type Collected = z.infer<typeof collectedSchema>;

/** What the service states of a stream besides its package; null where it states nothing. */
export const serviceStatementSchema = z.strictObject({
  /** By its list of streams: of all time, whatever the period. */
  entry_count: count.nullable(),
  head_sequence: count.nullable(),
  /** By its list of entries: of what the package was asked to hold. */
  listed: count.nullable(),
  /** By its own check, and the entries that it found wrong; as many as are kept. */
  verified: z.boolean().nullable(),
  failed_sequences: z.array(z.number()),
});
export type ServiceStatement = z.infer<typeof serviceStatementSchema>;

/** A service may name every entry that it has. */
const MAX_FAILED = 100;

export function collectedIn({
  export_started_at,
  received_at,
  steps,
}: Pick<Custody, 'export_started_at' | 'received_at' | 'steps'>): Collected {
  const requests = steps.flatMap(({ exchange }) => (exchange === undefined ? [] : [exchange.requested_at]));
  return { export_started_at, from: requests.sort()[0] ?? export_started_at, to: received_at };
}

export function serviceStatementIn({
  stated_count,
  stated_head,
  completeness,
  vendor,
}: Pick<Verification, 'stated_count' | 'stated_head' | 'completeness' | 'vendor'>): ServiceStatement {
  return {
    entry_count: stated_count,
    head_sequence: stated_head,
    listed: completeness.kind === 'listing' ? completeness.listed : null,
    verified: vendor?.verified ?? null,
    failed_sequences: vendor?.failed_sequences.slice(0, MAX_FAILED) ?? [],
  };
}
