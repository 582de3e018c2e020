import { plural } from '../../../core/plurals.ts';
import { entriesIn } from '../../../verifier/claims/continuity-question.ts';
import type { RunRecord, RunStream } from '../../../verifier/records/record.ts';
import { fill, sayNotProved } from './sentences.ts';
import { sayWrong } from './supplements.ts';
import type { Texts } from './texts.ts';

type Finding = RunStream['findings'][number];

/** All findings with one code. */
export interface FindingGroup {
  code: Finding['code'];
  severity: Finding['severity'];
  meaning: string;
  streams: number;
  /** Number of recorded findings. One finding may cover several consecutive entries. */
  findings: number;
  /** First findings of the group. */
  shown: ShownFinding[];
}

interface ShownFinding {
  streamId: string;
  place: string;
  message: string;
  /** Id, times and action of the entry; null if unknown. */
  entry: string | null;
  /** Contradicting values, each with its label. */
  values: { label: string; value: string }[];
}

export interface Findings {
  groups: FindingGroup[];
  /** Number of deviating entries, including those that the record does not keep individually. */
  total: number;
  streams: number;
  /** Text if there are no findings. It states open claims too: no finding does not mean that everything was proved. */
  none: string;
}

const SHOWN = 20;
const SEVERITIES: readonly Finding['severity'][] = ['error', 'warning', 'notice'];

/** Returns the findings grouped by code, errors first. */
export function toFindings(record: RunRecord, texts: Texts): Findings {
  const { streams, vanished, ended, failed } = record;
  const absent = vanished.length + ended.length;
  const ids = new Set<string>();
  const tallies = new Map<Finding['code'], FindingTally>();
  for (const finding of findingsIn(record)) {
    ids.add(finding.stream_id);
    const tally = tallies.get(finding.code) ?? new FindingTally(finding);
    tallies.set(finding.code, tally);
    tally.add(finding, texts);
  }
  const groups = [...tallies.values()].map((tally) => tally.finish(texts));
  groups.sort((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity) || (a.code < b.code ? -1 : 1));
  return {
    groups,
    total: streams.reduce((sum, stream) => sum + stream.findings_count, absent),
    streams: ids.size,
    none: [sayNone(streams, failed.length, texts), ...sayWrong(record, texts)].join(' '),
  };
}

function sayNone(streams: RunRecord['streams'], failed: number, { findings, exceptions }: Texts): string {
  if (failed === 0 && streams.every(({ status }) => status === 'empty')) return findings.nothing;
  const open = sayNotProved(streams);
  if (open === null && failed === 0) return findings.none;
  const missed = failed === 0 ? [] : [fill(exceptions.not_received, { streams: plural(failed, 'stream') })];
  return [findings.open, ...(open === null ? [] : [open]), ...missed].join(' ');
}

function* findingsIn({ streams, vanished, ended }: RunRecord): Generator<Finding> {
  for (const { finding } of [...vanished, ...ended]) yield finding;
  for (const { findings } of streams) yield* findings;
}

/** Collects the findings of one code. */
class FindingTally {
  readonly #first: Finding;
  readonly #streams = new Set<string>();
  readonly #shown: ShownFinding[] = [];
  #findings = 0;

  constructor(first: Finding) {
    this.#first = first;
  }

  add(finding: Finding, texts: Texts): void {
    this.#findings++;
    this.#streams.add(finding.stream_id);
    if (this.#shown.length < SHOWN) this.#shown.push(toShown(finding, texts));
  }

  finish({ meanings }: Texts): FindingGroup {
    const { code, severity } = this.#first;
    const counts = { streams: this.#streams.size, findings: this.#findings };
    return { code, severity, meaning: meanings[code], ...counts, shown: this.#shown };
  }
}

function toShown(finding: Finding, { values }: Texts): ShownFinding {
  const { code, stream_id, message, expected, actual } = finding;
  const labels = values[code] ?? values.other ?? { expected: 'expected', actual: 'found' };
  return {
    streamId: stream_id,
    place: placeOf(finding),
    message,
    entry: describeEntry(finding),
    values: [
      ...(expected === undefined ? [] : [{ label: labels.expected, value: expected }]),
      ...(actual === undefined ? [] : [{ label: labels.actual, value: actual }]),
    ],
  };
}

function describeEntry({ entry_id, recorded_at, actor, action }: Finding): string | null {
  const said = [
    ...(recorded_at === undefined ? [] : [`recorded ${recorded_at}`]),
    ...(actor === undefined ? [] : [`by ${actor}`]),
    ...(action === undefined ? [] : [`action ${action}`]),
    ...(entry_id === undefined || entry_id === '' ? [] : [`id ${entry_id}`]),
  ];
  return said.length === 0 ? null : said.join(' · ');
}

function placeOf({ sequence, from, to }: Finding): string {
  if (sequence !== undefined) return `entry ${sequence}`;
  return from === undefined ? '' : entriesIn(from, to ?? from);
}
