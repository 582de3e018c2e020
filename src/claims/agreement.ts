import { type FindingCode, type FindingLog, toFinding } from '../chain/finding.ts';
import type { WalkResult } from '../chain/walk.ts';
import type { PackageFacts, SummaryFacts } from '../contract/contract.ts';
import type { PdfFacts } from '../contract/pdf/statements.ts';
import { type Claim, proved, refuted, unproved } from './claim.ts';

/** What the service's own Verify operation said about a stream. */
export interface VendorVerdict {
  verified: boolean;
  checked_at: string | null;
  /** The sequence numbers it found at fault, as far as it names them. */
  failed_sequences: number[];
}

/** The PDF form: what it states, or why it could not be read. */
export type PdfReading = PdfFacts | { unreadable: string };

export interface AgreementQuestion {
  walk: WalkResult;
  facts: PackageFacts;
  summary: SummaryFacts | null;
  /** Null or absent when there is none. */
  pdf?: PdfReading | null;
  vendor: VendorVerdict | null;
  /** Whether one of our own claims about the entries is refuted. */
  refutedByUs: boolean;
}

/**
 * Do the forms of the package state the same package, stream, count and head as its entries show, and does the
 * service's own verdict not contradict ours? It takes a second form that states a count or a head to prove it.
 */
export function judgeAgreement(question: AgreementQuestion, log: FindingLog): Claim {
  const { walk, facts, summary, vendor, refutedByUs } = question;
  const before = log.errors('agreement');
  comparePackage(walk, facts, log);
  if (summary !== null) compareSummary(walk, facts, summary, log);
  const pdf = lookAtPdf(withoutCutIds(question.pdf ?? null, facts.packageId, walk.streamId));
  if (pdf.facts !== null) comparePdf(walk, facts, pdf.facts, log);
  if (vendor !== null) compareVerdicts(walk, vendor, refutedByUs, log);
  const differences = log.errors('agreement') - before;
  if (differences > 0) return refuted(`${differences} of the compared statements differ`);
  const summaryStates = summary !== null && (summary.entryCount !== null || summary.headDigest !== undefined);
  const notes = [...(summary === null ? ['the summary could not be read'] : []), ...pdf.notes];
  if (!summaryStates && !pdf.statesChain)
    return unproved(['no other form states a count or a head to hold the JSON form against', ...notes].join('; '));
  const compared = [
    'the JSON form',
    ...(summary === null ? [] : ['the summary']),
    ...pdf.compared,
    ...(vendor === null ? [] : ["the service's verdict"]),
  ];
  return proved([`${compared.slice(0, -1).join(', ')} and ${compared.at(-1)} agree`, ...notes].join('; '));
}

/** The package's statements about its own entries. A last number that differs goes with its digest: one head. */
function comparePackage(walk: WalkResult, facts: PackageFacts, log: FindingLog): void {
  const compare = comparer(walk.streamId, 'the JSON form states', log);
  const head = walk.head?.digest ?? null;
  compare('agreement/count-differs', 'entries', facts.entryCount, walk.entries);
  if (facts.firstSequence !== null)
    compare('agreement/count-differs', 'as its first sequence', facts.firstSequence, walk.first?.sequence ?? null);
  if (facts.headDigest !== undefined) compare('agreement/head-differs', 'as its head', facts.headDigest, head);
  if (facts.lastSequence !== null && (facts.headDigest === undefined || facts.headDigest === head))
    compare('agreement/head-differs', 'as its last sequence', facts.lastSequence, walk.head?.sequence ?? null);
}

function compareSummary(walk: WalkResult, facts: PackageFacts, summary: SummaryFacts, log: FindingLog): void {
  const compare = comparer(walk.streamId, 'the summary states', log);
  if (summary.packageId !== null && facts.packageId !== null)
    compare('agreement/package-differs', 'as its package', summary.packageId, facts.packageId);
  if (summary.streamId !== null) compare('agreement/package-differs', 'as its stream', summary.streamId, walk.streamId);
  compare('agreement/count-differs', 'entries', summary.entryCount, walk.entries);
  if (summary.headDigest !== undefined)
    compare('agreement/head-differs', 'as its head', summary.headDigest, walk.head?.digest ?? null);
}

/** What is not found in a PDF may still stand there, so only what is found is compared. */
function comparePdf(walk: WalkResult, facts: PackageFacts, pdf: PdfFacts, log: FindingLog): void {
  const compare = comparer(walk.streamId, 'the PDF states', log);
  if (pdf.packageId !== null && facts.packageId !== null)
    compare('agreement/package-differs', 'as its package', pdf.packageId, facts.packageId);
  if (pdf.streamId !== null) compare('agreement/package-differs', 'as its stream', pdf.streamId, walk.streamId);
  if (pdf.entryCount !== null) compare('agreement/count-differs', 'entries', pdf.entryCount, walk.entries);
  if (pdf.headDigest !== null)
    compare('agreement/head-differs', 'as its head', pdf.headDigest, walk.head?.digest ?? null);
}

/**
 * A long id is broken or cut where a PDF is set, and spaces are no text there. One that begins like ours states nothing
 * for certain.
 */
function withoutCutIds(reading: PdfReading | null, packageId: string | null, streamId: string): PdfReading | null {
  if (reading === null || 'unreadable' in reading) return reading;
  return { ...reading, packageId: whole(reading.packageId, packageId), streamId: whole(reading.streamId, streamId) };
}

function whole(stated: string | null, ours: string | null): string | null {
  if (stated === null || ours === null || stated === ours) return stated;
  const plain = (text: string) => text.replace(/\s+/g, '');
  return plain(ours).startsWith(plain(stated)) ? null : stated;
}

interface PdfView {
  facts: PdfFacts | null;
  /** The PDF by name, with what it states. */
  compared: string[];
  /** Why it was not compared. */
  notes: string[];
  /** Whether it states a count or a head. */
  statesChain: boolean;
}

function lookAtPdf(reading: PdfReading | null): PdfView {
  const without = (note: string): PdfView => ({ facts: null, compared: [], notes: [note], statesChain: false });
  if (reading === null) return without('there is no PDF');
  if ('unreadable' in reading) return without(`the PDF could not be read: ${reading.unreadable}`);
  const { packageId, streamId, entryCount, headDigest } = reading;
  const stated = Object.entries({ package: packageId, stream: streamId, count: entryCount, head: headDigest })
    .filter(([, value]) => value !== null)
    .map(([name]) => name);
  if (stated.length === 0) return without('the PDF states nothing that was found to compare');
  const statesChain = entryCount !== null || headDigest !== null;
  return { facts: reading, compared: [`the PDF (${stated.join(', ')})`], notes: [], statesChain };
}

function comparer(streamId: string, who: string, log: FindingLog) {
  return (code: FindingCode, what: string, stated: string | number | null, ours: string | number | null) => {
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
