import type { Rows } from '../../../core/rows/rows.ts';
import { plural } from '../../../core/words.ts';
import { CLAIMS, type Claim, type ClaimName } from '../../../verifier/claims/claim.ts';
import type { RunRecord, RunStream } from '../../../verifier/records/record.ts';
import { isAccepted, sum } from './missing.ts';
import type { Texts } from './texts.ts';

/** One claim over all streams of a run. */
export interface ClaimView {
  name: ClaimName;
  meaning: string;
  required: boolean;
  /** How many streams of the scope it is counted over: see `countedFor`, and those that were not received. */
  of: number;
  proved: number;
  refuted: number;
  unproved: number;
  /** Why it is unproved or refuted, and where a proof ends: each once, the most frequent first. */
  remarks: { state: Claim['state']; text: string; streams: number }[];
}

const REMARKS = 5;

export function toClaims({ streams, failed, scope }: RunRecord, texts: Texts): ClaimView[] {
  return CLAIMS.map((name) => {
    const counted = countedFor(name, streams);
    const count = (state: Claim['state']) => counted.filter(({ claims }) => claims[name].state === state).length;
    return {
      name,
      meaning: texts.claims[name],
      required: scope.required_claims.includes(name),
      of: counted.length + failed.length,
      proved: count('proved'),
      refuted: count('refuted'),
      unproved: count('unproved') + failed.length,
      remarks: [...remarksOn(name, counted), ...notCollected(failed.length, texts)],
    };
  });
}

/**
 * The streams that a claim is counted over: of one that was received whole and has no entries, nothing is told but what
 * is refuted.
 */
export function countedFor(name: ClaimName, streams: Rows<RunStream>): Rows<RunStream> {
  return streams.filter((stream) => {
    const isKnownEmpty = stream.entries === 0 && isReceivedWhole(stream);
    return !isKnownEmpty || stream.claims[name].state === 'refuted';
  });
}

/** Whether a stream was received whole, and could be read. */
export function isReceivedWhole({ partial, findings }: RunStream): boolean {
  return !partial && !findings.some(({ code }) => /^(package|contract)\//.test(code));
}

function notCollected(failed: number, texts: Texts): ClaimView['remarks'] {
  return failed === 0 ? [] : [{ state: 'unproved', text: texts.proves.not_collected, streams: failed }];
}

function remarksOn(name: ClaimName, streams: Rows<RunStream>): ClaimView['remarks'] {
  const counts = new Map<string, ClaimView['remarks'][number]>();
  for (const stream of streams) {
    const { state } = stream.claims[name];
    const text = remarkOn(name, stream);
    if (text === null) continue;
    const key = `${state} ${text}`;
    const known = counts.get(key);
    if (known === undefined) counts.set(key, { state, text, streams: 1 });
    else known.streams++;
  }
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
    // What is wrong stands among the findings, entry by entry: here it is told of which stream, and the first of it.
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
