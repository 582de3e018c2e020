import { plural } from '../../../core/plurals.ts';
import { CLAIMS, type Claim, type ClaimName } from '../../../verifier/claims/claim.ts';
import type { RunRecord, RunStream } from '../../../verifier/records/record.ts';
import { isAccepted, sum } from './missing.ts';
import type { Texts } from './texts.ts';

/** One claim over all streams of a run. */
export interface ClaimView {
  name: ClaimName;
  meaning: string;
  required: boolean;
  /** Number of streams that the claim is counted for: see `countsFor`, plus the streams that were not received. */
  of: number;
  proved: number;
  refuted: number;
  unproved: number;
  /** Reasons of unproved and refuted claims, and limits of proofs: each once, most frequent first. */
  remarks: { state: Claim['state']; text: string; streams: number }[];
}

const REMARKS = 5;

export function toClaims({ streams, failed, scope }: RunRecord, texts: Texts): ClaimView[] {
  const tallies = CLAIMS.map((name) => new ClaimTally(name));
  for (const stream of streams) for (const tally of tallies) tally.add(stream);
  return tallies.map(({ name, counts, remarks }) => ({
    name,
    meaning: texts.claims[name],
    required: scope.required_claims.includes(name),
    of: counts.proved + counts.refuted + counts.unproved + failed.length,
    proved: counts.proved,
    refuted: counts.refuted,
    unproved: counts.unproved + failed.length,
    remarks: [...mostFrequent(remarks), ...notCollected(failed.length, texts)],
  }));
}

/** Counts the states of one claim over streams. */
class ClaimTally {
  readonly name: ClaimName;
  readonly counts: Record<Claim['state'], number> = { proved: 0, refuted: 0, unproved: 0 };
  readonly remarks = new Map<string, ClaimView['remarks'][number]>();

  constructor(name: ClaimName) {
    this.name = name;
  }

  add(stream: RunStream): void {
    if (!countsFor(this.name, stream)) return;
    const { state } = stream.claims[this.name];
    this.counts[state]++;
    const text = remarkOn(this.name, stream);
    if (text === null) return;
    const key = `${state} ${text}`;
    const known = this.remarks.get(key);
    if (known === undefined) this.remarks.set(key, { state, text, streams: 1 });
    else known.streams++;
  }
}

/**
 * Reports whether a claim is counted for a stream. For an empty stream that was received completely, only refuted
 * claims are counted.
 */
export function countsFor(name: ClaimName, stream: RunStream): boolean {
  const isKnownEmpty = stream.entries === 0 && isReceivedWhole(stream);
  return !isKnownEmpty || stream.claims[name].state === 'refuted';
}

/** Reports whether a stream was received completely and could be read. */
export function isReceivedWhole({ partial, findings }: RunStream): boolean {
  return !partial && !findings.some(({ code }) => /^(package|contract)\//.test(code));
}

function notCollected(failed: number, texts: Texts): ClaimView['remarks'] {
  return failed === 0 ? [] : [{ state: 'unproved', text: texts.proves.not_collected, streams: failed }];
}

function mostFrequent(counts: ClaimTally['remarks']): ClaimView['remarks'] {
  const sorted = [...counts.values()].sort((a, b) => b.streams - a.streams || (a.text < b.text ? -1 : 1));
  const shown = sorted.slice(0, REMARKS);
  for (const [state, rest] of Map.groupBy(sorted.slice(REMARKS), (remark) => remark.state))
    shown.push({
      state,
      text: plural(rest.length, 'other reason'),
      streams: sum(rest.map((remark) => remark.streams)),
    });
  return shown;
}

function remarkOn(name: ClaimName, stream: RunStream): string | null {
  const { stream_id, claims, findings } = stream;
  const { state, reason, not_covered, entries_after_last_anchor: after = 0 } = claims[name];
  if (state === 'refuted') {
    // The section on findings lists every error; this remark gives the stream and its first error.
    const errors = findings.filter(({ code, severity }) => severity === 'error' && code.startsWith(`${name}/`));
    const [first] = errors;
    const more = errors.length > 1 ? `, and ${plural(errors.length - 1, 'more finding')}` : '';
    return `${stream_id}: ${first?.message ?? reason ?? 'no reason is recorded'}${more}`;
  }
  if (state !== 'proved') return reason ?? 'no reason is recorded';
  if (name === 'continuity' && isAccepted(stream))
    return `${stream_id}: ${findings.find(({ code }) => code === 'continuity/accepted')?.message}`;
  if (not_covered !== undefined) return `the digests do not cover ${not_covered.join(', ')}`;
  return after === 0
    ? null
    : `${stream_id}: ${plural(after, 'entry')} after the last anchor ${after === 1 ? 'is' : 'are'} not covered by it`;
}
