import type { Verification } from '../bundle/documents.ts';
import { collectedIn } from '../bundle/known.ts';
import { type ReportedVerdict, withRecorded } from '../claims/recorded.ts';
import type { Span, SpanEntries } from '../claims/schemas.ts';
import type { MissingForm } from '../model/failure.ts';
import { runRecordKey } from '../records/keys.ts';
import type { Acceptance, RunRecord, RunStream } from '../records/record.ts';
import { toRecordBytes } from '../records/record-bytes.ts';
import type { VerifiedBundle } from './content.ts';
import type { History } from './history.ts';
import { type Checked, type ObjectFinding, recordDiffers, toObjectFinding } from './object-finding.ts';

/** Returns a run record's statement about a stream, without its place in the archive. */
export function statedVerdict({
  bundle: _bundle,
  record: _record,
  partial: _partial,
  missing: _missing,
  collected: _collected,
  service: _service,
  ...stated
}: RunStream) {
  return stated;
}

/** Acceptance as a run names it; a bundle leaves out the contradiction that it covers. */
export type StatedAcceptance = Omit<Acceptance, 'format' | 'contradiction'> & {
  contradiction?: Acceptance['contradiction'] | undefined;
};

/** Statements of the ledger about the past of all streams. */
export interface LedgerPast {
  history: History;
  /** Reports whether the ledger names this acceptance. */
  isAccepted(acceptance: StatedAcceptance): boolean;
}

/** Compares our own verdict on a bundle with the recorded one; null if there is no verdict. */
export function compareRecorded(
  past: LedgerPast,
  run: RunRecord,
  stream: RunStream,
  { identity, judged }: VerifiedBundle,
): Checked<ReportedVerdict | null> {
  const differ = (what: string) =>
    recordDiffers(runRecordKey(run.run_id), `its ${what} of "${stream.stream_id}" differs from the bundle's`);
  const findings = identity === stream.bundle.identity ? [] : [differ('bundle identity')];
  if (judged === null) return { value: null, findings };
  const { stated } = judged;
  findings.push(
    ...differencesOf(run, stream, judged).map(differ),
    ...checkEarlier(past, stream, stated),
    ...checkAccepted(past, stream, stated),
  );
  return { value: withRecorded(judged.verdict, statedVerdict(stream)), findings };
}

/** Lists what the run and a bundle state differently. */
function differencesOf(
  run: RunRecord,
  stream: RunStream,
  { stated, transferLog: log, service, missing }: NonNullable<VerifiedBundle['judged']>,
): string[] {
  const isOfAttempt = stream.collected.export_started_at === run.started_at;
  const compared: [what: string, isSame: boolean][] = [
    ['run id', stated.run_id === run.run_id],
    ['program', !isOfAttempt || sameRecord({ ...stated.tool, commit: run.tool.commit }, run.tool)],
    ['contract', stated.contract_sha256 === run.source.contract_sha256],
    ['verdict', sameRecord(stated.verdict, statedVerdict(stream))],
    ['period', sameRecord(stated.period, run.period)],
    ['audit service', log === null || log.audit_url === run.source.audit_url],
    ['time of collection', log === null || sameRecord(collectedIn(log), stream.collected)],
    ["service's statement", sameRecord(service, stream.service)],
    ['list of missing forms', sameForms(stream, missing)],
    ['package period', sameRecord(stated.package_period, run.package_period)],
  ];
  return compared.flatMap(([what, isSame]) => (isSame ? [] : [what]));
}

function sameForms({ partial, missing }: RunStream, found: readonly MissingForm[]): boolean {
  const forms = (list: readonly MissingForm[]) =>
    list.map(({ form, code, reason }) => `${form} ${code} ${reason.trim()}`).sort();
  return partial === missing.length > 0 && sameRecord(forms(missing), forms(found));
}

/** Checks that a bundle states the same about earlier runs as the ledger. */
function checkEarlier(
  { history }: LedgerPast,
  { stream_id, bundle }: RunStream,
  { earlier, accepted_restarts }: Verification,
): ObjectFinding[] {
  const isKnown = (span: Span) => {
    const known = history.spanOf(span.run_id, stream_id);
    if (known === undefined || !span.part) return known !== undefined && sameRecord(span, known);
    // A part comes from that run's bundle, which is compared with this one if it is read.
    return span.entries !== null && known.entries !== null && isWithin(span.entries, known.entries);
  };
  return [...earlier, ...accepted_restarts.flatMap((restart) => restart.earlier)]
    .filter((span) => !isKnown(span))
    .map(({ run_id }) =>
      toObjectFinding(
        'verdict/differs',
        bundle.key,
        `was compared with entries of run ${run_id} that the ledger does not have`,
      ),
    );
}

/** Checks that the ledger names every acceptance of the stream. */
function checkAccepted(
  { isAccepted }: LedgerPast,
  { stream_id, bundle }: RunStream,
  { accepted_restarts }: Verification,
): ObjectFinding[] {
  return accepted_restarts
    .filter(({ earlier: _earlier, ...accepted }) => !isAccepted({ stream_id, ...accepted }))
    .map(({ accepted_at }) =>
      toObjectFinding(
        'verdict/differs',
        bundle.key,
        `names an acceptance of ${accepted_at} that the ledger does not have`,
      ),
    );
}

function isWithin(inner: SpanEntries, outer: SpanEntries): boolean {
  return inner.first_sequence >= outer.first_sequence && inner.head.sequence <= outer.head.sequence;
}

/** Compares records, ignoring the order of their members. */
export function sameRecord(a: unknown, b: unknown): boolean {
  return Buffer.from(toRecordBytes(sorted(a))).equals(toRecordBytes(sorted(b)));
}

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
