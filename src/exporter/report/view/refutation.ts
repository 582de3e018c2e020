import type { RecordedRefutation, ReportedVerdict } from '../../../verifier/claims/recorded.ts';

/** Describes why a stream that only the export refuted is refuted, and the next step. */
export function sayRefutation(
  refutation: readonly RecordedRefutation[],
  claims: ReportedVerdict['claims'],
): { message: string; nextStep: string } {
  const recorded = refutation.map(({ claim, reason }) => `${claim} (${reason})`).join('; ');
  const names = refutation.map(({ claim }) => claim);
  const proved = names.filter((name) => claims[name].state === 'proved');
  const open = names.filter((name) => claims[name].state !== 'proved');
  const here = [
    ...(proved.length === 0 ? [] : [`proved here: ${proved.join(', ')}`]),
    ...(open.length === 0 ? [] : [`not derived here: ${open.join(', ')}`]),
  ];
  return {
    message: `recorded as refuted by the export: ${recorded}. Here no claim is refuted; ${here.join('; ')}`,
    nextStep: open.length === 0 ? BOTH_STAND : DERIVE_HERE,
  };
}

const BOTH_STAND =
  'Find out with which keys and roots the export was made. If one of them was wrong, export again with the right one (--revise); the record of this run stays as it is.';
const DERIVE_HERE =
  'Derive these claims here: give the keys and roots that they take (--seal-key, --timestamp-roots, --identity), leave out --fast, and verify again.';
