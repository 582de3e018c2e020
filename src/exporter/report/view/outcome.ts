import { plural } from '../../../core/plurals.ts';
import { CLAIMS } from '../../../verifier/claims/claim.ts';
import type { RunRecord } from '../../../verifier/records/record.ts';
import { isAccepted, sum } from './missing.ts';
import { fill, sayNotProved } from './sentences.ts';
import { sayWrong } from './supplements.ts';
import type { Texts } from './texts.ts';

/** `calm`: verified. `alarm`: refuted. `caution`: only collected, partial, or empty. */
export type Tone = 'calm' | 'alarm' | 'caution';

/** Outcome of the run, for the first page. */
export interface OutcomeView {
  tone: Tone;
  /** Words in capitals: one, or two for a run that is both refuted and partial. */
  words: string[];
  sentences: string[];
}

/** Describes why streams are refuted, as far as their findings show: each cause once, in the order of the claims. */
function causesOf(streams: RunRecord['streams'], { by_claim, by_code }: Texts['outcome']['refuted']): string {
  const causes = CLAIMS.flatMap((name) =>
    streams
      .filter(({ claims }) => claims[name].state === 'refuted')
      .flatMap(({ findings }) => {
        const errors = findings.filter(({ code, severity }) => severity === 'error' && code.startsWith(`${name}/`));
        return errors.length === 0 ? [by_claim[name]] : errors.map(({ code }) => by_code[code] ?? by_claim[name]);
      }),
  );
  return [...new Set(causes)].join('; ');
}

/** The run that a report is about, or an attempt that ended incomplete. */
export type ReportKind = 'run' | 'attempt';

export function toOutcome(record: RunRecord, kind: ReportKind, texts: Texts): OutcomeView {
  const finalized = kind === 'run';
  const { outcome, streams } = record;
  const said = sayOutcome(record, finalized, texts);
  const words = said.map(({ word }) => word);
  const open = sayNotProved(streams);
  return {
    tone: outcome === 'refuted' ? 'alarm' : words.includes(texts.outcome.verified.word) ? 'calm' : 'caution',
    words,
    sentences: [
      ...said.map(({ sentence }) => sentence),
      ...sayAbsent(record, texts),
      ...sayWrong(record, texts),
      ...(open === null ? [] : [open]),
      ...(finalized ? [] : [texts.outcome.unfinalized]),
    ],
  };
}

/** Returns a word and its sentence, or two of each for a run that is both refuted and partial. */
function sayOutcome(record: RunRecord, finalized: boolean, texts: Texts): { word: string; sentence: string }[] {
  const { outcome, reconciliation, streams } = record;
  const { verified, collected, refuted, partial, empty } = texts.outcome;
  const values = {
    streams: plural(reconciliation.exported, 'stream'),
    entries: plural(sum(streams.map(({ entries }) => entries)), 'entry'),
    required: record.scope.required_claims.join(', '),
    listed: plural(reconciliation.listed, 'stream'),
    partial: reconciliation.partial,
    failed: reconciliation.failed,
  };
  const say = ({ word, sentence }: { word: string; sentence: string }, more: Record<string, string | number> = {}) => [
    { word, sentence: fill(sentence, { ...values, ...more }) },
  ];
  const isPartial = reconciliation.partial + reconciliation.failed > 0 || outcome === 'incomplete' || !finalized;
  const asPartial = isPartial ? say(partial) : [];
  if (outcome === 'refuted') {
    const count = streams.filter(({ status }) => status === 'refuted').length;
    const sentence = record.vanished.length > 0 ? refuted.missed : refuted.supplements;
    if (count === 0) return [...say({ word: refuted.word, sentence }), ...asPartial];
    const are = `${plural(streams.length, 'stream')} ${count === 1 ? 'is' : 'are'}`;
    return [...say(refuted, { refuted: count, streams: are, causes: causesOf(streams, refuted) }), ...asPartial];
  }
  if (isPartial) return asPartial;
  return say({ verified, collected, empty }[outcome]);
}

/** Describes streams that have vanished, were accepted as restarted or ended, or have no entries. */
function sayAbsent({ outcome, streams, vanished, ended, reconciliation }: RunRecord, texts: Texts): string[] {
  const { vanished: gone, accepted, empties } = texts.outcome;
  const restarted = streams.filter(isAccepted).length + ended.length;
  const { empty } = reconciliation;
  return [
    ...(vanished.length > 0 ? [fill(gone, { streams: plural(vanished.length, 'stream') })] : []),
    ...(restarted > 0 ? [fill(accepted, { streams: plural(restarted, 'stream') })] : []),
    ...(outcome !== 'empty' && empty > 0 ? [fill(empties, { streams: plural(empty, 'stream') })] : []),
  ];
}
