import type { SealKeys } from '../contract/contract.ts';
import type { Description, KeyChoice, SealDescription } from '../contract/description.ts';
import { openContract } from '../contract/reading.ts';
import type { SealRole } from './entry-roles.ts';
import { membersIn } from './recipe-search.ts';
import type { Sample } from './sample.ts';

export interface ProvedSeal {
  seal: SealDescription | null;
  /** Seals that the given keys make, of those whose key was given. */
  proved: number;
  of: number;
}

/** How seals are made: over what, and with which key; tried with the keys that are given. */
export function proveSeal(
  description: Description,
  role: SealRole,
  entries: readonly Sample[],
  keys: SealKeys,
): ProvedSeal {
  const algorithm = `hmac-sha-${8 * role.form.bytes}` as SealDescription['algorithm'];
  const choices: KeyChoice[] = [
    ...(role.keyField === null ? [] : [{ field: role.keyField }]),
    ...[...keys.keys()].map((id) => ({ id })),
  ];
  const candidates = choices.flatMap((key) =>
    (['digest-text', 'digest-bytes'] as const).map(
      (over): SealDescription => ({ field: role.field, key, algorithm, encoding: role.form.encoding, over }),
    ),
  );
  const counted = candidates.map((seal) => ({ seal, ...count({ ...description, seal }, entries, keys) }));
  const whole = counted.find(({ proved, of }) => of > 0 && proved === of);
  if (whole !== undefined) return whole;
  // Unproved, so only what a field of the entries says of it.
  const [first] = role.keyField === null ? [] : counted;
  return first ?? { seal: null, proved: 0, of: 0 };
}

function count(description: Description, entries: readonly Sample[], keys: SealKeys): { proved: number; of: number } {
  const contract = openContract(description);
  let [proved, of] = [0, 0];
  for (const sample of entries) {
    const entry = contract.readEntry(Buffer.from(sample.text()), membersIn(sample), new Map());
    const seal = entry.seal === 'malformed' ? null : entry.seal;
    const key = seal?.keyId == null ? undefined : keys.get(seal.keyId);
    if (seal === null || key === undefined) continue;
    of++;
    if (contract.sealOf(key, entry) === seal.value) proved++;
  }
  return { proved, of };
}
