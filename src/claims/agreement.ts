import { type FindingCode, type FindingLog, toFinding } from '../chain/finding.ts';
import type { WalkResult } from '../chain/walk.ts';
import type { PackageFacts, SummaryFacts } from '../contract/contract.ts';
import { type Claim, proved, refuted, unproved } from './claim.ts';

/** What the service's own Verify operation said about a stream. */
export interface VendorVerdict {
  verified: boolean;
  checked_at: string | null;
  /** The sequence numbers it found at fault, as far as it names them. */
  failed_sequences: number[];
}

export interface AgreementQuestion {
  walk: WalkResult;
  facts: PackageFacts;
  summary: SummaryFacts | null;
  vendor: VendorVerdict | null;
  /** Whether one of our own claims about the entries is refuted. */
  refutedByUs: boolean;
}

/**
 * Do the forms of the package state the same package, stream, count and head as its entries show, and does the
 * service's own verdict not contradict ours? What the PDF form states is not compared.
 */
export function judgeAgreement(
  { walk, facts, summary, vendor, refutedByUs }: AgreementQuestion,
  log: FindingLog,
): Claim {
  const before = log.errors('agreement');
  const compare = comparer(walk.streamId, log);
  const head = walk.head?.digest ?? null;
  compare('agreement/count-differs', 'entries', 'the JSON form states', facts.entryCount, walk.entries);
  compare('agreement/head-differs', 'as its head', 'the JSON form states', facts.headDigest, head);
  if (summary !== null) {
    compare('agreement/package-differs', 'as its package', 'the summary states', summary.packageId, facts.packageId);
    compare('agreement/package-differs', 'as its stream', 'the summary states', summary.streamId, walk.streamId);
    compare('agreement/count-differs', 'entries', 'the summary states', summary.entryCount, walk.entries);
    compare('agreement/head-differs', 'as its head', 'the summary states', summary.headDigest, head);
  }
  if (vendor !== null) compareVerdicts(walk, vendor, refutedByUs, log);
  const differences = log.errors('agreement') - before;
  if (differences > 0) return refuted(`${differences} of the compared statements differ`);
  if (summary === null)
    return unproved('the summary form could not be read, so there is nothing to hold the JSON form against');
  return proved(
    `the JSON form, the summary${vendor === null ? '' : " and the service's verdict"} agree; the PDF was not read`,
  );
}

function comparer(streamId: string, log: FindingLog) {
  return (
    code: FindingCode,
    what: string,
    who: string,
    stated: string | number | null,
    ours: string | number | null,
  ) => {
    if (stated === ours || (stated === null && typeof ours === 'number')) return;
    log.add(
      toFinding(code, streamId, `${who} ${stated ?? 'none'} ${what}, and it is ${ours ?? 'none'}`, {
        expected: String(ours),
        actual: String(stated),
      }),
    );
  };
}

function compareVerdicts(walk: WalkResult, vendor: VendorVerdict, refutedByUs: boolean, log: FindingLog): void {
  if (vendor.verified === !refutedByUs) return;
  // A fault that the service found outside of this package does not contradict a verdict on this package.
  const here = vendor.failed_sequences.filter(
    (sequence) => sequence >= (walk.first?.sequence ?? 0) && sequence <= (walk.head?.sequence ?? 0),
  );
  if (!vendor.verified && vendor.failed_sequences.length > 0 && here.length === 0) return;
  const [theirs, ours] = refutedByUs ? ['verified', 'refuted'] : ['not verified', 'not refuted'];
  log.add(
    toFinding(
      'agreement/vendor-verdict-differs',
      walk.streamId,
      `the service says ${theirs}${vendor.checked_at === null ? '' : ` (checked ${vendor.checked_at})`}, our own check says ${ours}`,
      { expected: ours ?? '', actual: theirs ?? '' },
    ),
  );
}
