import type { Entry, SealKeys } from '../../verifier/model/entry.ts';
import type { Description } from '../../verifier/profile/description.ts';
import type { SealDescription } from '../../verifier/profile/digest-description.ts';
import type { EntryReader } from '../../verifier/reading/contract.ts';
import { openContract } from '../../verifier/reading/reading.ts';
import type { SealRole } from '../roles/entry.ts';
import { isNearlyAll } from '../sample/nearly-all.ts';
import type { Sample } from '../sample/sample.ts';
import { keyChoices, membersIn } from './recipe-bench.ts';

interface ProvedSeal {
  seal: SealDescription | null;
  /** Number of seals that the given keys produce, among the seals whose key was given. */
  proved: number;
  of: number;
  /** Entries whose seal the given keys do not produce. */
  misses: Sample[];
}

/** Finds the input and the key of seals by means of the given keys. */
export function proveSeal(
  description: Description,
  role: SealRole,
  entries: readonly Sample[],
  keys: SealKeys,
): ProvedSeal {
  const algorithm = `hmac-sha-${8 * role.form.bytes}` as SealDescription['algorithm'];
  const candidates = keyChoices(role.keyField, keys).flatMap((key) =>
    (['digest-text', 'digest-bytes'] as const).map(
      (over): SealDescription => ({ field: role.field, key, algorithm, encoding: role.form.encoding, over }),
    ),
  );
  const counted = candidates.map((seal) => ({ seal, ...count({ ...description, seal }, entries, keys) }));
  const [best] = counted.toSorted((a, b) => b.proved - a.proved);
  if (best !== undefined && best.proved > 0 && isNearlyAll(best.proved, best.of)) return best;
  // Returns an unproved seal only if a field of the entries identifies its key.
  const [first] = role.keyField === null ? [] : counted;
  return first ?? { seal: null, proved: 0, of: 0, misses: [] };
}

function count(description: Description, entries: readonly Sample[], keys: SealKeys): Omit<ProvedSeal, 'seal'> {
  const contract = openContract(description);
  let proved = 0;
  const misses: Sample[] = [];
  for (const sample of entries) {
    const entry = readEntry(contract, sample);
    if (entry?.seal === 'malformed') misses.push(sample);
    else if (entry?.seal != null) {
      const { keyId, value } = entry.seal;
      const key = keyId === null ? undefined : keys.get(keyId);
      if (key === undefined) continue;
      if (contract.sealOf(key, entry) === value) proved++;
      else misses.push(sample);
    }
  }
  return { proved, of: proved + misses.length, misses };
}

/** Returns null for an entry that does not match the contract; the recipe search reports such entries. */
function readEntry(contract: EntryReader, sample: Sample): Entry | null {
  try {
    return contract.readEntry(Buffer.from(sample.text()), membersIn(sample), new Map());
  } catch {
    return null;
  }
}
