import type { Archive } from '../archive/archive.ts';
import { inParallel } from '../archive/parallel.ts';
import type { Span } from '../claims/span-schema.ts';
import { EvidenceError } from '../errors.ts';
import { ledgerKey } from './keys.ts';
import { type LedgerEntry, readEntry, type StoredLedgerEntry } from './ledger.ts';

/** What all runs so far had of the streams. */
export interface Past {
  /** By stream id; the oldest first. */
  spans: ReadonlyMap<string, readonly Span[]>;
  /** SHA-256 of each run's record, by run id. */
  runs: ReadonlyMap<string, string>;
}

type Link = Pick<StoredLedgerEntry, 'key' | 'sha256'> & { previous: string };

const AT_ONCE = 8;

/**
 * What the ledger says of every run up to `newest`. Each entry must be the one that the next names, so that whoever
 * vouches for the newest vouches for all.
 *
 * @throws EvidenceError `unreadable` where one is missing or another one.
 */
export async function readPast(archive: Archive, newest: StoredLedgerEntry | null): Promise<Past> {
  const past = new PastBuilder();
  const links: Link[] = [];
  const numbers = Array.from({ length: newest?.entry.number ?? 0 }, (_, index) => index + 1);
  for (let at = 0; at < numbers.length; at += AT_ONCE) {
    const block: StoredLedgerEntry[] = [];
    await inParallel([...numbers.slice(at, at + AT_ONCE).entries()], AT_ONCE, async ([index, number]) => {
      block[index] = number === newest?.entry.number ? newest : await readEntry(archive, ledgerKey(number));
    });
    for (const { key, entry, sha256 } of block) {
      links.push({ key, sha256, previous: entry.previous_sha256 });
      past.add(entry);
    }
  }
  for (const [index, { key, previous }] of links.entries()) {
    const before = links[index - 1];
    if (before !== undefined && before.sha256 !== previous) throw notTheOne(before.key, key);
  }
  return past;
}

function notTheOne(key: string, next: string): EvidenceError {
  return new EvidenceError('unreadable', `${key} is not the entry of the ledger that ${next} follows`, {
    nextStep: 'Keep the archive as it is, and look at all of it with: evidence verify. Nothing was exported.',
  });
}

/** Takes the entries of a ledger, the oldest first. */
export class PastBuilder implements Past {
  readonly spans = new Map<string, Span[]>();
  readonly runs = new Map<string, string>();

  add(entry: LedgerEntry): void {
    if (!('run_id' in entry)) {
      this.#restart(entry);
      return;
    }
    const { run_id, run_sha256, package_period: period } = entry;
    this.runs.set(run_id, run_sha256);
    for (const [streamId, entries] of Object.entries(entry.spans)) {
      const known = this.spans.get(streamId);
      const span: Span = { run_id, period, part: false, entries };
      if (known === undefined) this.spans.set(streamId, [span]);
      else known.push(span);
    }
  }

  /** An accepted restart takes the stream's head away: from there on it has no past. */
  #restart({ heads }: LedgerEntry): void {
    for (const [streamId, spans] of this.spans)
      if (spans.some(({ entries }) => entries !== null) && !Object.hasOwn(heads, streamId)) this.spans.delete(streamId);
  }
}
