import type { Description } from '../profile/description.ts';
import type { RecordState } from './document.ts';
import { type RecordKind, recordFiles } from './files.ts';
import { readRecords, type SupplementRecord } from './reading.ts';
import type { SupplementTally } from './tally.ts';

/** Files as they were received, by their paths in the bag. */
export interface ReceivedFiles {
  paths: Iterable<string>;
  read(path: string): Uint8Array | Promise<Uint8Array>;
}

/**
 * The records of a kind that are of the period, each with how it stands, in the order of their lines in
 * `data/records.jsonl` and in the table of the kind. Of an answer of the service one is in memory at a time.
 * @throws EvidenceError `contract`, `unreadable` for an answer that is not as the contract says.
 */
export async function* judgeKind(
  contract: Description,
  kind: RecordKind,
  files: ReceivedFiles,
  tally: SupplementTally,
): AsyncGenerator<{ record: SupplementRecord; state: RecordState }> {
  tally.begin(kind);
  for (const path of recordFiles(kind, files.paths))
    for (const record of readRecords(contract, kind, await files.read(path))) {
      const state = tally.judge(record);
      if (state !== null) yield { record, state };
    }
}
