import { plural } from '../../core/plurals.ts';
import type { WalkResult } from '../chain/walk.ts';
import { type StreamFinding, toStreamFinding } from '../model/stream-finding.ts';

/** Answer of the service's own Verify operation for a stream. */
export interface VendorVerdict {
  verified: boolean;
  checked_at: string | null;
  /** Sequence numbers that the service reports as faulty, if any. */
  failed_sequences: number[];
}

/**
 * Result of our own claims about the entries.
 * - `keys`: only seals are refuted, and no given key matches any of them: the keys may be the wrong ones.
 * - `open`: order, content or seals could not all be checked: the service may have seen a fault that we cannot.
 */
export type OwnVerdict = 'proved' | 'refuted' | 'keys' | 'open';

/** Comparison of the service's own verdict with ours. */
export interface VendorComparison {
  /** True if both verdicts on the package's entries are the same. */
  agrees: boolean;
  findings: StreamFinding[];
  /** Reasons that leave agreement open. */
  doubts: string[];
  /** Statements of the service about entries that are not in the package. */
  notes: string[];
}

/** Comparison if the service stated nothing about the stream. */
export const NOT_SAID: VendorComparison = { agrees: false, findings: [], doubts: [], notes: [] };

export function compareVerdicts(walk: WalkResult, vendor: VendorVerdict, ours: OwnVerdict): VendorComparison {
  const when = vendor.checked_at === null ? '' : ` (checked ${vendor.checked_at})`;
  return vendor.verified ? compareGood(walk, when, ours) : compareBad(walk, vendor.failed_sequences, when, ours);
}

function compareGood(walk: WalkResult, when: string, ours: OwnVerdict): VendorComparison {
  if (ours === 'refuted') return differing(walk, 'verified', `the service says verified${when}`, ours);
  if (ours !== 'keys') return { ...NOT_SAID, agrees: true };
  return { ...NOT_SAID, doubts: [`the service says verified${when}, and ${ONLY_SEALS}`] };
}

/** @param failed entries that the service reports; faults outside this package say nothing about it. */
function compareBad(walk: WalkResult, failed: readonly number[], when: string, ours: OwnVerdict): VendorComparison {
  const here = failed.filter((one) => one >= (walk.first?.sequence ?? 0) && one <= (walk.head?.sequence ?? 0));
  const itself = `the service's own check failed`;
  if (failed.length > 0 && here.length === 0) {
    const which = failed.length === 1 ? 'which is' : 'which are';
    const message = `${itself} at ${namesOf(failed)}${when}, ${which} not in this package`;
    return { ...NOT_SAID, findings: [failedCheck(walk, message)], notes: [message] };
  }
  if (ours === 'refuted') return { ...NOT_SAID, agrees: true };
  const where = here.length === 0 ? '' : ` at ${namesOf(here)}`;
  if (ours === 'proved') return differing(walk, 'not verified', `the service says not verified${where}${when}`, ours);
  const why = ours === 'keys' ? ONLY_SEALS : 'order, content and seals were not all checked here';
  const message = `${itself}${where}${when}, and ${why}`;
  return { ...NOT_SAID, findings: [failedCheck(walk, message)], doubts: [message] };
}

const ONLY_SEALS = 'our own check refutes only seals, of which no key that was given fits one';

function failedCheck({ streamId }: WalkResult, message: string): StreamFinding {
  return toStreamFinding('agreement/vendor-check-failed', streamId, message);
}

function differing({ streamId }: WalkResult, expected: string, says: string, ours: OwnVerdict): VendorComparison {
  const actual = ours === 'refuted' ? 'refuted' : 'not refuted';
  const message = `${says}, our own check says ${actual}`;
  const values = { expected, actual };
  return { ...NOT_SAID, findings: [toStreamFinding('agreement/vendor-verdict-differs', streamId, message, values)] };
}

const MAX_NAMED = 5;

function namesOf(sequences: readonly number[]): string {
  const more = sequences.length - MAX_NAMED;
  const named = sequences.slice(0, MAX_NAMED).join(', ');
  return `${sequences.length === 1 ? 'entry' : 'entries'} ${named}${more > 0 ? ` and ${plural(more, 'other')}` : ''}`;
}
