import type { ReportedClaims, StreamStatus } from '../claims/claim.ts';
import type { RecordKind } from './files.ts';

/** Entry of a bundle as read. */
export interface FoundEntry {
  /** Digest that the entry states, in lower-case hex. */
  digest: string;
  /** JSON of the entry; null if it can be read in more than one way. */
  bytes: Uint8Array | null;
}

/** Knowledge of a run about a stream that records name: none because its bundle was not opened, that it is refuted, or the contents of its bundle. */
export type StreamStanding =
  | { kind: 'unknown' }
  | { kind: 'refuted' }
  | {
      kind: 'read';
      /** Numbers of its first and last entry; null without entries. */
      first: number | null;
      last: number | null;
      /** Reason why its entries can prove nothing; null if order and content are proved. */
      open: string | null;
      /** Members of entries that no digest covers. */
      notCovered: readonly string[];
      notes: StreamNotes;
      /** Newest entry that the service listed before other services were asked; null if not stated. */
      listed: number | null;
      /** Time at which the package was requested. */
      requestedAt: string;
    };

/** Entries of a stream that bear on records. */
export interface StreamNotes {
  find(sequence: number): FoundEntry | null;
  /** Returns the records whose existence entries state, by id, each with the number of the first such entry. */
  implied(kind: RecordKind): ReadonlyMap<string, number>;
  /** Returns the numbers of the entries that state members of a record again, in order. */
  later(kind: RecordKind, id: string): readonly number[];
}

/** Stream as judged in an export or in a verification. */
export interface JudgedStream {
  status: StreamStatus | 'recorded';
  claims: ReportedClaims;
  first_sequence: number | null;
  head: { sequence: number } | null;
}

/** @param notes notes of the judged bundle; null if it was not read. */
export function standingOf(
  { status, claims, first_sequence, head }: JudgedStream,
  notes: StreamNotes | null,
  { listed, requestedAt }: { listed: number | null; requestedAt: string },
): StreamStanding {
  if (status === 'refuted') return { kind: 'refuted' };
  if (notes === null) return { kind: 'unknown' };
  const open = (['order', 'content'] as const).find((name) => claims[name].state !== 'proved');
  return {
    kind: 'read',
    first: first_sequence,
    last: head?.sequence ?? null,
    open:
      open === undefined
        ? null
        : `the claim "${open}" of its stream is not proved: ${claims[open].reason ?? 'unknown'}`,
    notCovered: claims.content.not_covered ?? [],
    notes,
    listed,
    requestedAt,
  };
}
