import { agree, grouped, plural } from '../../core/plurals.ts';
import type { WalkResult } from '../chain/walk.ts';
import { FindingLog } from '../model/finding-log.ts';
import { type Claim, deviations, type Judgement, proved, refuted, unproved } from './claim.ts';

interface SealQuestion {
  walk: WalkResult;
  hasSeals: boolean;
  keysGiven: boolean;
  /** True if seals must be proved: an entry without a seal is wrong then, even if none has one. */
  required: boolean;
}

/** Judges seals: proved if every entry has a seal made with a given key. */
export function judgeSeal(question: SealQuestion): Judgement {
  const { walk, required } = question;
  const findings = new FindingLog();
  if (walk.seals.present > 0 || required) findings.addAll(walk.seals.unsealed);
  const faults = walk.findings.errors('seal') + findings.errors('seal');
  return { claim: faults > 0 ? refuted(sealFaults(walk, faults)) : claimOf(question), findings };
}

function claimOf({ walk: { seals, entries }, hasSeals, keysGiven }: SealQuestion): Claim {
  if (entries === 0) return unproved('no-entries', 'there are no entries');
  if (!hasSeals) return unproved('no-seals', 'the service shows no seals');
  if (!keysGiven) return unproved('key-not-given', 'no seal key was given');
  if (seals.missing > 0) return unproved('entries-without-seal', withoutSeal(seals.missing, entries));
  if (seals.unknown.first !== null)
    return unproved('key-not-given', unknownReason(seals.unknown.entries, entries, seals.unknown.first));
  return proved(`${grouped(seals.verified)} of ${plural(entries, 'seal')} recomputed`);
}

function sealFaults({ seals, entries }: WalkResult, faults: number): string {
  const words = deviations(faults);
  return seals.missing === 0 ? words : `${words}: ${withoutSeal(seals.missing, entries)}`;
}

function withoutSeal(missing: number, entries: number): string {
  return `${grouped(missing)} of ${plural(entries, 'entry')} ${agree(missing, 'has', 'have')} no seal`;
}

function unknownReason(
  count: number,
  entries: number,
  { sequence, keyId, behindKnown }: NonNullable<WalkResult['seals']['unknown']['first']>,
): string {
  const where = behindKnown ? `, from entry ${sequence} on, after seals of a key that was given` : '';
  return `${grouped(count)} of ${plural(entries, 'seal')} ${agree(count, 'is', 'are')} made with a key not given ("${keyId}"${where})`;
}
