import type { FileDigest } from '../bundle/integrity.ts';
import type { OpenBundle } from '../bundle/read.ts';
import type { Description } from '../profile/description.ts';
import type { SupplementsStatement } from '../supplements/document.ts';
import type { ProvedRecords } from '../supplements/tally.ts';

/** Result for the supplements of a run. */
export interface SupplementsCheck extends SupplementsStatement {
  /** True if the records were judged here; otherwise everything is as recorded. */
  judged: boolean;
  /** Streams whose entries prove records; empty if records were not judged. */
  proved: readonly ProvedRecords[];
}

/** Withdraws proofs by streams that other runs contradict, whatever their bundles state. */
export function withoutProofsOf(check: SupplementsCheck, isRefuted: (streamId: string) => boolean): SupplementsCheck {
  const kinds = structuredClone(check.kinds);
  for (const { kind, records } of check.proved.filter(({ stream_id }) => isRefuted(stream_id))) {
    const counts = kinds[kind];
    if (counts === undefined) continue;
    counts.proved_by_entry -= records;
    counts.contradicted += records;
  }
  return { ...check, kinds, proved: check.proved.filter(({ stream_id }) => !isRefuted(stream_id)) };
}

/** Bag with supplements that matches its run record. */
export interface SoundSupplements {
  bundle: OpenBundle;
  key: string;
  files: ReadonlyMap<string, FileDigest>;
  contract: Description;
  /** True if the reader supplied the contract, so that it is not the one of the export. */
  isByReader: boolean;
}

/** Maximum size of one answer of a service; an export accepts no larger one. */
export const MAX_ANSWER_BYTES = 64 * 2 ** 20;
