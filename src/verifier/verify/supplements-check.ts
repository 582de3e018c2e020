import type { FileDigest } from '../bundle/integrity.ts';
import type { OpenBundle } from '../bundle/read.ts';
import type { Description } from '../profile/description.ts';
import type { SupplementsStatement } from '../supplements/document.ts';
import type { ProvedRecords } from '../supplements/tally.ts';

/** The result for the supplements of a run. */
export interface SupplementsCheck extends SupplementsStatement {
  /** True if records were judged anew; else all of it is as recorded. */
  judged: boolean;
  /** By entries of which streams records are proved; none where they were not judged. */
  proved: readonly ProvedRecords[];
}

/** By streams that other runs contradict nothing is proved, whatever their bundles say by themselves. */
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

/** A bag with supplements that is what its run says it is. */
export interface SoundSupplements {
  bundle: OpenBundle;
  key: string;
  files: ReadonlyMap<string, FileDigest>;
  contract: Description;
  /** The contract is one that the reader has brought, not the one that the run was exported by. */
  isByReader: boolean;
}

/** The most bytes of one answer of a service: an export takes no larger one. */
export const MAX_ANSWER_BYTES = 64 * 2 ** 20;
