import { plural } from '../../../core/words.ts';
import type { RunRecord } from '../../../verifier/records/record.ts';
import { isAccepted } from './missing.ts';
import { sayNotProved } from './not-proved.ts';
import type { Texts } from './texts.ts';
import { fill } from './words.ts';

/** `calm`: verified. `alarm`: refuted. `caution`: collected only, partial, or nothing was checked. */
export type Tone = 'calm' | 'alarm' | 'caution';

/** What the run came to, as it stands on the first page. */
export interface OutcomeView {
  tone: Tone;
  /** In capitals: one word, or two where a run is refuted and partial. */
  words: string[];
  sentences: string[];
}

/** @param finalized false for the report of an attempt. */
export function toOutcome(record: RunRecord, finalized: boolean, texts: Texts): OutcomeView {
  const { outcome, reconciliation, streams, vanished, ended } = record;
  const {
    verified,
    collected,
    refuted,
    partial,
    empty,
    unfinalized,
    empties,
    vanished: gone,
    accepted,
  } = texts.outcome;
  const entries = streams.reduce((sum, stream) => sum + stream.entries, 0);
  const refutedStreams = streams.filter(({ status }) => status === 'refuted').length;
  const isPartial = reconciliation.partial + reconciliation.failed > 0 || !finalized;
  const values = {
    streams: plural(reconciliation.exported, 'stream'),
    entries: plural(entries, 'entry'),
    required: record.scope.required_claims.join(', '),
    listed: plural(reconciliation.listed, 'stream'),
    partial: reconciliation.partial,
    failed: reconciliation.failed,
  };
  const words: string[] = [];
  const sentences: string[] = [];
  const say = ({ word, sentence }: { word: string; sentence: string }, more: Record<string, string | number> = {}) => {
    words.push(word);
    sentences.push(fill(sentence, { ...values, ...more }));
  };
  if (outcome === 'refuted' && refutedStreams === 0) say({ word: refuted.word, sentence: refuted.missed });
  else if (outcome === 'refuted')
    say(refuted, {
      refuted: refutedStreams,
      streams: `${plural(streams.length, 'stream')} ${refutedStreams === 1 ? 'is' : 'are'}`,
    });
  if (isPartial) say(partial);
  if (outcome === 'empty' && !isPartial) say(empty);
  if (outcome === 'verified' && !isPartial) say(verified);
  if (outcome === 'collected' && !isPartial) say(collected);
  if (vanished.length > 0) sentences.push(fill(gone, { streams: plural(vanished.length, 'stream') }));
  const restarted = streams.filter(isAccepted).length + ended.length;
  if (restarted > 0) sentences.push(fill(accepted, { streams: plural(restarted, 'stream') }));
  if (outcome !== 'empty' && reconciliation.empty > 0)
    sentences.push(fill(empties, { streams: plural(reconciliation.empty, 'stream') }));
  const open = sayNotProved(streams);
  if (open !== null) sentences.push(open);
  if (!finalized) sentences.push(unfinalized);
  return {
    tone: outcome === 'refuted' ? 'alarm' : words.includes(verified.word) ? 'calm' : 'caution',
    words,
    sentences,
  };
}
