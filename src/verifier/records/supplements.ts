import { z } from 'zod';
import { FORMATS } from '../../core/formats.ts';
import type { Rows } from '../../core/rows/rows.ts';
import { runIdSchema } from '../model/schemas.ts';
import { supplementsStatementSchema } from '../supplements/document.ts';
import type { Outcome } from './outcome.ts';
import { binding, bundleSchema } from './stored-object.ts';

/** Evidence of a run from services other than the audit service: the result of each, the findings, and the bag. */
export const runSupplementsSchema = z.strictObject({
  ...supplementsStatementSchema.shape,
  /** Null in the record of an attempt, which has no bag. */
  object: bundleSchema.nullable(),
});
export type RunSupplements = z.infer<typeof runSupplementsSchema>;

/** Supplements whose bag is in the archive. */
export type StoredSupplements = RunSupplements & { object: NonNullable<RunSupplements['object']> };

/**
 * `runs/<run-id>/supplements/<sha256 of the bag>.json`: content of a bag, written before it is stored. An export that
 * was interrupted afterward continues with the bag, even if it cannot read it.
 */
export const announcedSupplementsSchema = runSupplementsSchema.extend({
  format: z.literal(FORMATS.supplementsRecord),
  run_id: runIdSchema,
  object: bundleSchema,
  binding,
});
export const ANNOUNCED_SUPPLEMENTS = { schema: announcedSupplementsSchema, maxBytes: 2 ** 26 };

/** Number of services to collect from, and of those collected and missing. */
export const supplementCountsSchema = z.strictObject({
  configured: z.int().min(0),
  collected: z.int().min(0),
  missing: z.int().min(0),
});
type SupplementCounts = z.infer<typeof supplementCountsSchema>;

export function countSupplements(supplements: RunSupplements | null): SupplementCounts {
  const states = supplements === null ? [] : Object.values(supplements.services).map(({ state }) => state);
  const count = (wanted: string) => states.filter((state) => state === wanted).length;
  const [collected, missing] = [count('collected'), count('missing')];
  return { configured: collected + missing, collected, missing };
}

/**
 * Returns the effect of supplements on a run: a missing service makes it incomplete, an error among the findings
 * refutes it.
 */
export function outcomesOfSupplements(supplements: RunSupplements | null): Outcome[] {
  if (supplements === null) return [];
  const isMissing = Object.values(supplements.services).some(({ state }) => state === 'missing');
  const isWrong = supplements.findings.some(({ severity }) => severity === 'error');
  return [...(isWrong ? (['refuted'] as const) : []), ...(isMissing ? (['incomplete'] as const) : [])];
}

/** Returns why a run has no bundle of a stream. */
export function whyNoBundle(
  streamId: string,
  { failed, excluded }: { failed: Rows<{ stream_id: string }>; excluded: Rows<{ stream_id: string }> },
): string {
  const has = (streams: Rows<{ stream_id: string }>) => streams.some(({ stream_id }) => stream_id === streamId);
  if (has(failed)) return 'its stream could not be exported';
  return has(excluded) ? 'its stream is not in the scope of the run' : 'the service does not list its stream';
}
