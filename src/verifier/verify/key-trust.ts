import { countersignatureOf, runOf, type StoredLedgerEntry, signedPart } from '../ledger/ledger.ts';
import { isSignedBy, type Signature } from '../signature/envelope.ts';
import type { PublicKey } from '../signature/key.ts';

/** Keys by which signatures are checked, by id. An id is the digest of its key. */
export interface KnownKeys {
  /** Keys that the reader gave. */
  pinned: ReadonlyMap<string, PublicKey>;
  /** Keys found in the archive itself. */
  archived: ReadonlyMap<string, PublicKey>;
}

/** Extent to which the pinned keys vouch for a ledger. */
export interface KeyTrust {
  /** Numbers of entries that a trusted key signed, and of all entries that precede them in the chain. */
  vouched: ReadonlySet<number>;
  /** SHA-256 of the records of the runs that these entries name, by run id. */
  runs: ReadonlyMap<string, string>;
  /** Ids of pinned keys, of keys to which a trusted key handed over, and of the signers of vouched entries. */
  signers: ReadonlySet<string>;
  /** Ids of keys that handed over, with the number of the entry that recorded the hand-over. */
  retired: ReadonlyMap<string, number>;
}

/**
 * Follows the keys of a ledger from the pinned ones. A trusted key passes its trust to the key named in a hand-over
 * that both signed, and signs nothing later. An entry signed by a trusted key vouches, through the chain, for every
 * earlier entry, even if another key signed it.
 *
 * @param entries in order.
 */
export function followKeys(keys: KnownKeys, entries: readonly StoredLedgerEntry[]): KeyTrust {
  const trusted = new Set(keys.pinned.keys());
  const retired = new Map<string, number>();
  const vouched: StoredLedgerEntry[] = [];
  let waiting: StoredLedgerEntry[] = [];
  let previous: StoredLedgerEntry | null = null;
  for (const stored of entries) {
    const { entry } = stored;
    if (previous !== null && !follows(entry, previous)) waiting = [];
    waiting.push(stored);
    const signers = soundSigners(keys, stored);
    if (signers.some((id) => trusted.has(id) && !retired.has(id))) {
      vouched.push(...waiting);
      waiting = [];
      if ('hands_over_to' in entry && signers.length === 2) trusted.add(entry.hands_over_to);
    }
    const from = 'hands_over_to' in entry && signers.length === 2 ? entry.signature?.keyid : undefined;
    if (from !== undefined && !retired.has(from)) retired.set(from, entry.number);
    previous = stored;
  }
  return {
    vouched: new Set(vouched.map(({ entry }) => entry.number)),
    runs: runsIn(vouched),
    signers: new Set([...trusted, ...vouched.flatMap(({ entry }) => entry.signature?.keyid ?? [])]),
    retired,
  };
}

function follows({ number, previous_sha256 }: StoredLedgerEntry['entry'], before: StoredLedgerEntry): boolean {
  return number === before.entry.number + 1 && previous_sha256 === before.sha256;
}

/** Returns the ids of the keys whose signatures on an entry are valid. */
function soundSigners({ pinned, archived }: KnownKeys, { entry }: StoredLedgerEntry): string[] {
  const signatures = [entry.signature, countersignatureOf(entry)].filter((one): one is Signature => one !== undefined);
  if (signatures.length === 0) return [];
  const signed = signedPart(entry);
  return signatures.flatMap((signature) => {
    const key = pinned.get(signature.keyid) ?? archived.get(signature.keyid);
    return key !== undefined && isSignedBy(signed, signature, key) ? [signature.keyid] : [];
  });
}

function runsIn(entries: readonly StoredLedgerEntry[]): Map<string, string> {
  const runs = entries.flatMap(({ entry }) => runOf(entry) ?? []);
  return new Map(runs.map(({ id, sha256 }) => [id, sha256]));
}
