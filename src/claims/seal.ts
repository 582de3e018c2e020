import type { WalkResult } from '../chain/walk.ts';
import { type Claim, deviations, proved, refuted, unproved } from './claim.ts';

export interface SealQuestion {
  walk: WalkResult;
  hasSeals: boolean;
  keysGiven: boolean;
  /** Whether seals must be proved: then an entry without one is wrong, even if none has one. */
  required: boolean;
}

/** Proved where every entry has a seal that was made with a key that was given. */
export function judgeSeal({ walk, hasSeals, keysGiven, required }: SealQuestion): Claim {
  const { seals, findings, entries } = walk;
  if (seals.present > 0 || required) findings.addAll(seals.unsealed);
  if (findings.errors('seal') > 0) return refuted(sealFaults(walk));
  if (entries === 0) return unproved('there are no entries');
  if (!hasSeals) return unproved('the service shows no seals');
  if (!keysGiven) return unproved('no seal key was given');
  if (seals.missing > 0) return unproved(`${seals.missing} of ${entries} entries have no seal`);
  if (seals.unknown.first !== null) return unproved(unknownReason(seals.unknown.entries, entries, seals.unknown.first));
  return proved(`${seals.verified} of ${entries} seals recomputed`);
}

function sealFaults({ findings, seals, entries }: WalkResult): string {
  const words = deviations(findings, 'seal');
  return seals.missing === 0 ? words : `${words}: ${seals.missing} of ${entries} entries have no seal`;
}

function unknownReason(
  count: number,
  entries: number,
  { sequence, keyId, behindKnown }: NonNullable<WalkResult['seals']['unknown']['first']>,
): string {
  const where = behindKnown ? `, from entry ${sequence} on, behind seals of a key that was given` : '';
  return `${count} of ${entries} seals are made with a key not given ("${keyId}"${where})`;
}
