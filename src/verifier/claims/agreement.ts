import { cutText } from '../../core/foreign-text.ts';
import { plural } from '../../core/plurals.ts';
import type { WalkResult } from '../chain/walk.ts';
import { FindingLog } from '../model/finding-log.ts';
import { type StreamFindingCode, toStreamFinding } from '../model/stream-finding.ts';
import type { PdfFacts } from '../pdf-text/pdf.ts';
import type { PackageFacts, SummaryFacts } from '../reading/contract.ts';
import type { PlainStatement } from '../reading/plain-sight.ts';
import { compareActions } from './actions.ts';
import { comparePdf, type OurFacts } from './agreement-pdf.ts';
import {
  compareVerdicts,
  NOT_SAID,
  type OwnVerdict,
  type VendorComparison,
  type VendorVerdict,
} from './agreement-vendor.ts';
import { type Claim, type Judgement, proved, refuted, unproved } from './claim.ts';

/** Facts of the PDF form, or the reason that it could not be read. */
export type PdfReading = PdfFacts | { unreadable: string };

/** Facts of the summary form, or the reason that it could not be read. */
export type SummaryReading = SummaryFacts | { unreadable: string };

interface AgreementQuestion {
  walk: WalkResult;
  facts: PackageFacts;
  /** Null if there is no summary. */
  summary: SummaryReading | null;
  /** Null or absent if there is no PDF. */
  pdf?: PdfReading | null;
  /** Number of entries that the service stated when the package was ready; null or absent if it stated none. */
  statedCount?: number | null;
  vendor: VendorVerdict | null;
  /** Result of our own claims about the entries. */
  ownVerdict: OwnVerdict;
}

/**
 * Judges whether the forms of the package state the package, stream, count and head that its entries show, and whether
 * the service's own verdict contradicts ours. Agreement is proved if the summary states a count or a head. The PDF
 * proves nothing, because an image of text can show more than a program reads from it: its statements can only refute.
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
  reportPdf(walk.streamId, question.pdf ?? null, ours, log);
  const verdicts = vendor === null ? NOT_SAID : compareVerdicts(walk, vendor, ownVerdict);
  for (const finding of verdicts.findings) log.add(finding);
  const differences = log.errors('agreement');
  if (differences > 0)
    return refuted(`${differences} of the compared statements ${differences === 1 ? 'differs' : 'differ'}`);
  const doubts = [...doubtsIn(question, summary, ours), ...verdicts.doubts];
  return doubts.length > 0 ? unproved('forms-doubtful', doubts.join('; ')) : judgeStated(question, summary, verdicts);
}

/** Lists reasons why a form may state something else to its readers. */
function doubtsIn(question: AgreementQuestion, summary: SummaryFacts | null, ours: OurFacts): string[] {
  const { facts, walk } = question;
  const { unnamed } = compareActions(summary, walk.actions);
  return [
    ...unreadIn(question.summary),
    ...(unnamed === 0 ? [] : [`the summary does not count the actions of ${plural(unnamed, 'entry')}`]),
    ...facts.otherEntries.map((path) => `the JSON form has another list that looks like entries, at "${path}"`),
    ...contraryTo(ours, 'JSON form', facts.plain),
    ...contraryTo(ours, 'summary', summary?.plain ?? []),
  ];
}

/** Judges forms without differences: proves agreement if enough is stated. */
function judgeStated(question: AgreementQuestion, summary: SummaryFacts | null, verdicts: VendorComparison): Claim {
  const isStated = summary !== null && (summary.entryCount !== null || summary.headDigest !== undefined);
  const notes = [
    ...(summary === null ? ['there is no summary'] : []),
    ...verdicts.notes,
    ...(question.pdf == null ? [] : ['the PDF is not part of what is proved']),
  ];
  if (!isStated)
    return unproved(
      'nothing-stated',
      ['no second machine-readable form states a count or a head to compare', ...notes].join('; '),
    );
  const compared = [
    'the JSON form',
    'the summary',
    ...(question.statedCount == null ? [] : ['the recorded count of the service']),
    ...(verdicts.agrees ? ['the recorded verdict of the service'] : []),
  ];
  return proved([`${compared.slice(0, -1).join(', ')} and ${compared.at(-1)} agree`, ...notes].join('; '));
}

/** Returns null for a summary that is absent or unreadable. */
export function factsOf(summary: SummaryReading | null): SummaryFacts | null {
  return summary === null || 'unreadable' in summary ? null : summary;
}

function unreadIn(summary: SummaryReading | null): string[] {
  return summary !== null && 'unreadable' in summary ? [`the summary could not be read: ${summary.unreadable}`] : [];
}

/** Compares the package with the service's statement when it was ready. */
function compareAnswer(walk: WalkResult, statedCount: number | null, log: FindingLog): void {
  const compare = comparer(walk.streamId, 'the service, when the package was ready, stated', log);
  compare('agreement/count-differs', 'entries', statedCount, walk.entries);
}

function reportOtherEntries(walk: WalkResult, { otherEntries }: PackageFacts, log: FindingLog): void {
  for (const path of otherEntries) {
    const message = `the JSON form has another list that looks like entries, at "${path}": the contract does not read it, so it was not checked`;
    log.add(toStreamFinding('agreement/other-entries', walk.streamId, message));
  }
}

/** Lists statements under usual names that the contract does not read and that differ from ours. */
function contraryTo(ours: OurFacts, form: string, plain: readonly PlainStatement[]): string[] {
  return plain
    .filter(({ fact, text }) => ours[fact] !== null && String(ours[fact]) !== text)
    .map(({ name, text }) => `the ${form} has "${name}": ${cutText(text, 80)}, which the contract does not read`);
}

/**
 * Compares the package's statements about its entries. A differing last number is reported only if the digest of the
 * head is not: they are one head.
 */
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
  for (const { action, stated, counted } of compareActions(summary, walk.actions).differing)
    compare('agreement/count-differs', `entries with the action "${action}"`, stated, counted);
}

function reportPdf(streamId: string, reading: PdfReading | null, ours: OurFacts, log: FindingLog): void {
  if (reading === null) return;
  const unread = 'unreadable' in reading ? [`the PDF could not be read: ${reading.unreadable}`] : reading.unread;
  for (const message of unread) log.add(toStreamFinding('agreement/pdf-unread', streamId, message));
  if ('unreadable' in reading) return;
  const { differences, unclear } = comparePdf(reading, ours);
  for (const { fact, value, page } of differences) {
    const actual = String(ours[fact] ?? 'none');
    const [code, what] = DIFFERENCES[fact];
    const message = `the PDF states ${value} ${what} (page ${page}), and it is ${actual}`;
    log.add(toStreamFinding(code, streamId, message, { expected: value, actual }));
  }
  const named = unclear
    .slice(0, MAX_UNCLEAR)
    .map(({ fact, value, page }) => `${fact} ${cutText(value, 80)} (page ${page})`);
  if (named.length === 0) return;
  const message = `the PDF states several values of one fact, among them ${named.join(', ')}, which may be of a part`;
  log.add(toStreamFinding('agreement/pdf-unclear', streamId, message));
}

const MAX_UNCLEAR = 3;

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
