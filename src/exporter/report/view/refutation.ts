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
    ...(open.length === 0 ? [] : [`not checked here: ${open.join(', ')}`]),
  ];
  return {
    message: `recorded as refuted by the export: ${recorded}. No claim is refuted here; ${here.join('; ')}`,
    nextStep: open.length === 0 ? BOTH_STAND : DERIVE_HERE,
  };
}

const BOTH_STAND =
  'Check the keys and roots that the export used. If one was wrong, export again with the right one (--revise); the record of this run does not change.';
const DERIVE_HERE =
  'To check these claims here, give their keys and roots (--seal-key, --timestamp-roots, --identity), leave out --fast, and verify again.';
