import type { RunRecord } from '../../ledger/record.ts';
import type { Texts } from './texts.ts';

type Finding = RunRecord['streams'][number]['findings'][number];

/** All findings of one code. */
export interface FindingGroup {
  code: string;
  severity: Finding['severity'];
  meaning: string;
  nextSteps: string[];
  streams: number;
  /** As recorded: consecutive entries are one finding. */
  findings: number;
  /** The first of them. */
  shown: { streamId: string; place: string; message: string; expected: string | null; actual: string | null }[];
}

export interface Findings {
  groups: FindingGroup[];
  /** Each deviating entry counted, also those that the record does not keep one by one. */
  total: number;
  streams: number;
}

const SHOWN = 20;
const SEVERITIES: readonly Finding['severity'][] = ['error', 'warning', 'notice'];

/** Errors first. */
export function toFindings({ streams, vanished }: RunRecord, texts: Texts): Findings {
  const all = [...vanished.map(({ finding }) => finding), ...streams.flatMap((stream) => stream.findings)];
  const groups = [...Map.groupBy(all, ({ code }) => code)].map(([code, findings]) => toGroup(code, findings, texts));
  groups.sort((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity) || (a.code < b.code ? -1 : 1));
  return {
    groups,
    total: streams.reduce((sum, stream) => sum + stream.findings_count, vanished.length),
    streams: new Set(all.map(({ stream_id }) => stream_id)).size,
  };
}

function toGroup(code: string, findings: readonly Finding[], texts: Texts): FindingGroup {
  return {
    code,
    severity: findings[0]?.severity ?? 'notice',
    // A record of a later version may know more of them.
    meaning: (texts.meanings as Record<string, string>)[code] ?? '',
    nextSteps: [...new Set(findings.map(({ next_step }) => next_step))],
    streams: new Set(findings.map(({ stream_id }) => stream_id)).size,
    findings: findings.length,
    shown: findings.slice(0, SHOWN).map((finding) => ({
      streamId: finding.stream_id,
      place: placeOf(finding),
      message: finding.message,
      expected: finding.expected ?? null,
      actual: finding.actual ?? null,
    })),
  };
}

function placeOf({ sequence, from, to }: Finding): string {
  if (sequence !== undefined) return `entry ${sequence}`;
  return from === undefined ? '' : `entries ${from} to ${to ?? from}`;
}
