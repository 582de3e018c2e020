import { cutText } from '../../core/foreign-text.ts';
import { plural } from '../../core/words.ts';
import type { WalkResult } from '../chain/walk.ts';
import { FindingLog } from '../model/finding-log.ts';
import { type StreamFindingCode, toStreamFinding } from '../model/stream-finding.ts';
import type { PdfFacts } from '../pdf-text/pdf.ts';
import type { PackageFacts, SummaryFacts } from '../reading/contract.ts';
import type { PlainStatement } from '../reading/plain-sight.ts';
import { comparePdf, type OurFacts, type PdfComparison } from './agreement-pdf.ts';
import {
  compareVerdicts,
  NOT_SAID,
  type OwnVerdict,
  type VendorComparison,
  type VendorVerdict,
} from './agreement-vendor.ts';
import { type Claim, type Judgement, proved, refuted, unproved } from './claim.ts';

/** The PDF form: what it states, or why it could not be read. */
export type PdfReading = PdfFacts | { unreadable: string };

/** The summary form, likewise. */
export type SummaryReading = SummaryFacts | { unreadable: string };

export interface AgreementQuestion {
  walk: WalkResult;
  facts: PackageFacts;
  /** Null when there is none. */
  summary: SummaryReading | null;
  /** Null or absent when there is none. */
  pdf?: PdfReading | null;
  /** How many entries the service said that the package has, when it was ready; null or absent where it did not. */
  statedCount?: number | null;
  vendor: VendorVerdict | null;
  /** What our own claims about the entries come to. */
  ownVerdict: OwnVerdict;
}

/**
 * Do the forms of the package state the same package, stream, count and head as its entries show, and does the
 * service's own verdict not contradict ours? It takes a second form that states a count or a head to prove it; a form that
 * is there and that we cannot read may state something else to whoever can.
 */
export function judgeAgreement(question: AgreementQuestion): Judgement {
  const findings = new FindingLog();
  return { claim: judge(question, findings), findings };
}

function judge(question: AgreementQuestion, log: FindingLog): Claim {
  const { walk, facts, vendor, ownVerdict } = question;
  const summary = factsOf(question.summary);
  comparePackage(walk, facts, log);
  if (summary !== null) compareSummary(walk, facts, summary, log);
  compareAnswer(walk, question.statedCount ?? null, log);
  reportOtherEntries(walk, facts, log);
  const ours = {
    package: facts.packageId,
    stream: walk.streamId,
    count: walk.entries,
    head: walk.head?.digest ?? null,
  };
  const pdf = lookAtPdf(question.pdf ?? null, ours);
  addDifferences(walk.streamId, pdf, log);
  const verdicts = vendor === null ? NOT_SAID : compareVerdicts(walk, vendor, ownVerdict);
  for (const finding of verdicts.findings) log.add(finding);
  const differences = log.errors('agreement');
  if (differences > 0)
    return refuted(`${differences} of the compared statements ${differences === 1 ? 'differs' : 'differ'}`);
  const doubts = [...doubtsIn(question, summary, pdf), ...verdicts.doubts];
  return doubts.length > 0 ? unproved(doubts.join('; ')) : judgeStated(question, { summary, pdf, verdicts });
}

/** Why a form may state something else to whoever can read it. */
function doubtsIn(question: AgreementQuestion, summary: SummaryFacts | null, pdf: PdfView): string[] {
  const { facts } = question;
  return [
    ...unreadIn('summary', question.summary),
    ...unreadIn('PDF', question.pdf ?? null),
    ...facts.otherEntries.map((path) => `the JSON form has another list that looks like entries, at "${path}"`),
    ...contraryTo(pdf.ours, 'JSON form', facts.plain),
    ...contraryTo(pdf.ours, 'summary', summary?.plain ?? []),
    ...pdf.doubts,
  ];
}

interface Seen {
  summary: SummaryFacts | null;
  pdf: PdfView;
  verdicts: VendorComparison;
}

/** Where nothing differs: whether enough is stated to agree. */
function judgeStated(question: AgreementQuestion, { summary, pdf, verdicts }: Seen): Claim {
  const summaryStates = summary !== null && (summary.entryCount !== null || summary.headDigest !== undefined);
  const pdfStates = pdf.agreeing.includes('count') || pdf.agreeing.includes('head');
  const notes = [...(summary === null ? ['there is no summary'] : []), ...pdf.notes, ...verdicts.notes];
  if (!summaryStates && !pdfStates)
    return unproved(['no other form states a count or a head to hold the JSON form against', ...notes].join('; '));
  const compared = [
    'the JSON form',
    ...(summary === null ? [] : ['the summary']),
    ...(pdf.agreeing.length === 0
      ? []
      : [`the text of the PDF (${pdf.agreeing.join(', ')}: ${plural(pdf.statements, 'statement')})`]),
    ...(question.statedCount == null ? [] : ['the recorded count of the service']),
    ...(verdicts.agrees ? ['the recorded verdict of the service'] : []),
  ];
  return proved([`${compared.slice(0, -1).join(', ')} and ${compared.at(-1)} agree`, ...notes].join('; '));
}

/** Null for what is not there, or cannot be read. */
export function factsOf(summary: SummaryReading | null): SummaryFacts | null {
  return summary === null || 'unreadable' in summary ? null : summary;
}

function unreadIn(form: string, reading: SummaryReading | PdfReading | null): string[] {
  return reading !== null && 'unreadable' in reading ? [`the ${form} could not be read: ${reading.unreadable}`] : [];
}

/** What the service said of the package when it was ready. */
function compareAnswer(walk: WalkResult, statedCount: number | null, log: FindingLog): void {
  const compare = comparer(walk.streamId, 'the service, when the package was ready, stated', log);
  compare('agreement/count-differs', 'entries', statedCount, walk.entries);
}

function reportOtherEntries(walk: WalkResult, { otherEntries }: PackageFacts, log: FindingLog): void {
  for (const path of otherEntries) {
    const message = `the JSON form has another list that looks like entries, at "${path}": the contract does not read it, and nothing of it was checked`;
    log.add(toStreamFinding('agreement/other-entries', walk.streamId, message));
  }
}

/** What a form states under a usual name that its contract does not read, and that is not ours. */
function contraryTo(ours: OurFacts, form: string, plain: readonly PlainStatement[]): string[] {
  return plain
    .filter(({ fact, text }) => ours[fact] !== null && String(ours[fact]) !== text)
    .map(({ name, text }) => `the ${form} has "${name}": ${cutText(text, 80)}, which the contract does not read`);
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

interface PdfView extends PdfComparison {
  ours: OurFacts;
  /** Why it was not compared. */
  notes: string[];
}

function lookAtPdf(reading: PdfReading | null, ours: OurFacts): PdfView {
  const without = (note: string): PdfView => {
    return { agreeing: [], statements: 0, differences: [], doubts: [], ours, notes: [note] };
  };
  if (reading === null || 'unreadable' in reading) return without('there is no PDF');
  const comparison = comparePdf(reading, ours);
  const notes = comparison.agreeing.length === 0 ? ['the PDF states nothing that was found to compare'] : [];
  return { ...comparison, ours, notes };
}

/** What is not found in a PDF may still stand there, so only what is found is compared. */
function addDifferences(streamId: string, { differences, ours }: PdfView, log: FindingLog): void {
  for (const { fact, stated, page } of differences) {
    const actual = String(ours[fact] ?? 'none');
    const [code, what] = DIFFERENCES[fact];
    const message = `the PDF states ${stated} ${what} (page ${page}), and it is ${actual}`;
    log.add(toStreamFinding(code, streamId, message, { expected: stated, actual }));
  }
}

const DIFFERENCES = {
  package: ['agreement/package-differs', 'as its package'],
  stream: ['agreement/package-differs', 'as its stream'],
  count: ['agreement/count-differs', 'entries'],
  head: ['agreement/head-differs', 'as its head'],
} as const satisfies Record<keyof OurFacts, readonly [StreamFindingCode, string]>;

function comparer(streamId: string, who: string, log: FindingLog) {
  return (code: StreamFindingCode, what: string, stated: string | number | null, ours: string | number | null) => {
    if (stated === ours || (stated === null && typeof ours === 'number')) return;
    log.add(
      toStreamFinding(code, streamId, `${who} ${stated ?? 'none'} ${what}, and it is ${ours ?? 'none'}`, {
        expected: String(stated),
        actual: String(ours),
      }),
    );
  };
}
