import { grouped, plural } from '../../../core/plurals.ts';
import type { RunRecord } from '../../../verifier/records/record.ts';
import type { RunSupplements } from '../../../verifier/records/supplements.ts';
import { KIND_NAMES, RECORD_KINDS } from '../../../verifier/supplements/files.ts';
import { nextStepOf } from '../../next-steps.ts';
import { asSentence, fill } from './sentences.ts';
import type { Texts } from './texts.ts';

/** Records of other services, shown next to the audit evidence. */
export interface SupplementsView {
  introduction: string;
  kinds: KindRow[];
  /** Services that should have been collected from but were not. */
  missing: { service: string; reason: string; nextStep: string }[];
  /** Origins and times of the collected services. */
  sources: string[];
  findings: SupplementRemark[];
  /** Number of findings that are not shown, in words; null if all are shown. */
  more: string | null;
}

/** Records of one kind in the period. */
export interface KindRow {
  kind: string;
  service: string;
  inPeriod: number;
  proved: number;
  contradicted: number;
  unproved: number;
  noEntry: number;
}

export interface SupplementRemark {
  severity: 'error' | 'warning' | 'notice';
  /** The record, or the first of several. */
  record: string;
  message: string;
  /** Entry that the record names; null if it names none. */
  entry: string | null;
  values: { label: string; value: string }[];
  nextStep: string;
}

const SHOWN = 50;

/** Returns null if no supplements were to be collected. */
export function toSupplements({ supplements }: RunRecord, { supplements: texts }: Texts): SupplementsView | null {
  if (supplements === null) return null;
  const { services, findings, findings_count } = supplements;
  const shown = [...findings].sort((a, b) => Number(b.severity === 'error') - Number(a.severity === 'error'));
  const told = shown.slice(0, SHOWN).map((finding) => toRemark(finding, texts));
  const more = findings_count - shown.slice(0, SHOWN).reduce((sum, { records }) => sum + records, 0);
  return {
    introduction: texts.introduction,
    kinds: KIND_NAMES.flatMap((kind) => {
      const counts = supplements.kinds[kind];
      if (counts === undefined) return [];
      const { in_period: inPeriod, proved_by_entry: proved, contradicted, unproved, no_entry: noEntry } = counts;
      return [{ kind, service: RECORD_KINDS[kind], inPeriod, proved, contradicted, unproved, noEntry }];
    }),
    missing: Object.entries(services).flatMap(([service, state]) =>
      state.state === 'missing' ? [{ service, reason: asSentence(state.reason), nextStep: state.next_step }] : [],
    ),
    sources: Object.entries(services).flatMap(([service, state]) =>
      state.state === 'collected'
        ? [fill(texts.source, { service, origin: state.origin, time: state.collected_at })]
        : [],
    ),
    findings: told,
    more: more > 0 ? fill(texts.more, { count: grouped(more) }) : null,
  };
}

type Finding = RunSupplements['findings'][number];

function toRemark(
  { code, severity, kind, id, records, message, stream_id, sequence, expected, actual }: Finding,
  { values, several }: Texts['supplements'],
): SupplementRemark {
  const first = `${kind} ${id}`;
  const labelled = [
    { label: values.expected, value: expected },
    { label: values.actual, value: actual },
  ];
  return {
    severity,
    record: records === 1 ? first : fill(several, { count: grouped(records), kind, first: id }),
    message: asSentence(message),
    entry: stream_id === undefined ? null : `${stream_id}${sequence === undefined ? '' : ` #${sequence}`}`,
    values: labelled.flatMap(({ label, value }) => (value === undefined ? [] : [{ label, value }])),
    nextStep: nextStepOf({ code }),
  };
}

/** Describes supplements that affect the outcome: records that their entries do not support, and missing services. */
export function sayWrong({ supplements }: RunRecord, { supplements: texts }: Texts): string[] {
  if (supplements === null) return [];
  const kinds = Object.values(supplements.kinds).filter((counts) => counts !== undefined);
  const wrong = kinds.reduce((sum, { contradicted, no_entry, missing }) => sum + contradicted + no_entry + missing, 0);
  const services = Object.entries(supplements.services).filter(([, { state }]) => state === 'missing');
  return [
    ...(wrong > 0 ? [fill(texts.wrong, { records: plural(wrong, 'record') })] : []),
    ...(services.length > 0 ? [fill(texts.missing, { services: services.map(([name]) => name).join(', ') })] : []),
  ];
}
