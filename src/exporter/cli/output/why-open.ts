import { plural } from '../../../core/plurals.ts';
import { CLAIMS, type ClaimName, type LackedInput } from '../../../verifier/claims/claim.ts';
import type { RunRecord, RunStream } from '../../../verifier/records/record.ts';

/** Says how to give the inputs that claims lack. */
const GIVE: Readonly<Record<LackedInput, string>> = {
  seal_key: 'Give the keys that seals are made with: verify.seal_keys in evidence.yaml, or --seal-key ID=FILE.',
  timestamp_root:
    "Give the authority's root certificate: verify.timestamp_roots in evidence.yaml, or --timestamp-roots FILE.",
};

/** Claims that follow from entries, keys and contract alone: the same command finds the same. */
const SETTLED: ReadonlySet<ClaimName> = new Set(['order', 'content', 'seal']);

/** Says why a run is not finalized, and what helps. */
export function whyOpen(record: RunRecord): string {
  if (record.streams.length + record.failed.length + record.vanished.length === 0)
    return 'No stream is in scope, so nothing was checked and nothing is finalized.';
  const open = record.streams.filter(({ status }) => status === 'incomplete');
  const unmet = record.scope.required_claims.flatMap((name) => open.flatMap((stream) => unmetIn(stream, name)));
  const lacking = new Set(unmet.flatMap(({ lacks }) => (lacks === undefined ? [] : [GIVE[lacks]])));
  const settled = unmet.filter(({ name, lacks }) => SETTLED.has(name) || lacks !== undefined);
  const isSettled = (stream: RunStream) => settled.some(({ streamId }) => streamId === stream.stream_id);
  const { missing } = record.reconciliation.supplements;
  const mayCome =
    missing > 0 || record.failed.length > 0 || open.some((stream) => stream.partial || !isSettled(stream));
  return [
    ['The run is not finalized.', ...sayUnmet(unmet)].join(' '),
    ...lacking,
    mayCome
      ? 'Run the same command again to get what is missing, or --finalize-partial to finalize it as it is.'
      : 'The same command again does not change that; --finalize-partial finalizes the run as it is.',
  ].join('\n');
}

interface Unmet {
  name: ClaimName;
  streamId: string;
  lacks: LackedInput | undefined;
}

function unmetIn({ stream_id: streamId, claims }: RunStream, name: ClaimName): Unmet[] {
  const { state, lacks } = claims[name];
  return state === 'unproved' ? [{ name, streamId, lacks }] : [];
}

function sayUnmet(unmet: readonly Unmet[]): string[] {
  const counts = CLAIMS.flatMap((name) => {
    const streams = unmet.filter((one) => one.name === name).length;
    return streams === 0 ? [] : [`${name} (${plural(streams, 'stream')})`];
  });
  return counts.length === 0 ? [] : [`Required, and not proved: ${counts.join(', ')}.`];
}
