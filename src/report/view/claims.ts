import { CLAIMS, type Claim, type ClaimName } from '../../claims/claim.ts';
import type { RunStream } from '../../ledger/record.ts';
import type { Texts } from './texts.ts';

/** One claim over all streams of a run. */
export interface ClaimView {
  name: ClaimName;
  meaning: string;
  required: boolean;
  proved: number;
  refuted: number;
  unproved: number;
  /** Why it is unproved or refuted, and where a proof ends: each once, the most frequent first. */
  remarks: { state: Claim['state']; text: string; streams: number }[];
}

const REMARKS = 5;

export function toClaims(streams: readonly RunStream[], required: readonly string[], texts: Texts): ClaimView[] {
  return CLAIMS.map((name) => {
    const claims = streams.map((stream) => stream.claims[name]);
    const count = (state: Claim['state']) => claims.filter((claim) => claim.state === state).length;
    return {
      name,
      meaning: texts.claims[name],
      required: required.includes(name),
      proved: count('proved'),
      refuted: count('refuted'),
      unproved: count('unproved'),
      remarks: remarksOn(claims),
    };
  });
}

function remarksOn(claims: readonly Claim[]): ClaimView['remarks'] {
  const counts = new Map<string, ClaimView['remarks'][number]>();
  for (const claim of claims) {
    const text = remarkOn(claim);
    if (text === null) continue;
    const key = `${claim.state} ${text}`;
    const known = counts.get(key);
    if (known === undefined) counts.set(key, { state: claim.state, text, streams: 1 });
    else known.streams++;
  }
  const sorted = [...counts.values()].sort((a, b) => b.streams - a.streams || (a.text < b.text ? -1 : 1));
  const rest = sorted.slice(REMARKS);
  if (rest.length === 0) return sorted;
  const streams = rest.reduce((sum, remark) => sum + remark.streams, 0);
  return [...sorted.slice(0, REMARKS), { state: 'unproved', text: `${rest.length} other reasons`, streams }];
}

function remarkOn({ state, reason, not_covered, entries_after_last_anchor: after = 0 }: Claim): string | null {
  if (state !== 'proved') return reason ?? 'no reason is recorded';
  if (not_covered !== undefined) return `the digests do not cover ${not_covered.join(', ')}`;
  return after === 0 ? null : 'entries behind the last anchor are not covered by it';
}
