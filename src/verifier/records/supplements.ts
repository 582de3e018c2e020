import { z } from 'zod';
import { FORMATS } from '../../core/formats.ts';
import type { Rows } from '../../core/rows/rows.ts';
import { type RecordFormat, runIdSchema } from '../model/schemas.ts';
import { supplementsStatementSchema } from '../supplements/document.ts';
import type { Outcome } from './outcome.ts';
import { binding, bundleSchema } from './stored-object.ts';

/** The evidence of a run from the services beside the audit service: the result of each, the findings, and the bag. */
export const runSupplementsSchema = z.strictObject({
  ...supplementsStatementSchema.shape,
  /** Null in the record of an attempt, which has none. */
  object: bundleSchema.nullable(),
});
export type RunSupplements = z.infer<typeof runSupplementsSchema>;

/** Supplements that lie in the archive. */
export type StoredSupplements = RunSupplements & { object: NonNullable<RunSupplements['object']> };

/**
 * `runs/<run-id>/supplements/<sha256 of the bag>.json`: what a bag holds, written before it is stored. An export that
 * was interrupted after it goes on with the bag, also where it cannot read it.
 */
export const announcedSupplementsSchema = runSupplementsSchema.extend({
  format: z.literal(FORMATS.supplementsRecord),
  run_id: runIdSchema,
  object: bundleSchema,
  binding,
});
export const ANNOUNCED_SUPPLEMENTS: RecordFormat<z.infer<typeof announcedSupplementsSchema>> = {
  schema: announcedSupplementsSchema,
  maxBytes: 2 ** 26,
};

/** The number of services to be collected from, and of those that were. */
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
 * Returns the effect of supplements on a run: a missing one leaves it incomplete, an error that was found refutes it.
 */
export function outcomesOfSupplements(supplements: RunSupplements | null): Outcome[] {
  if (supplements === null) return [];
  const isMissing = Object.values(supplements.services).some(({ state }) => state === 'missing');
  const isWrong = supplements.findings.some(({ severity }) => severity === 'error');
  return [...(isWrong ? (['refuted'] as const) : []), ...(isMissing ? (['incomplete'] as const) : [])];
}

/** Says why a run has no bundle of a stream. */
export function whyNoBundle(
  streamId: string,
  { failed, excluded }: { failed: Rows<{ stream_id: string }>; excluded: Rows<{ stream_id: string }> },
): string {
  const has = (streams: Rows<{ stream_id: string }>) => streams.some(({ stream_id }) => stream_id === streamId);
  if (has(failed)) return 'its stream could not be exported';
  return has(excluded) ? 'its stream is not in the scope of the run' : 'the service does not list its stream';
}
