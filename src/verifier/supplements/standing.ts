import type { ReportedClaims, StreamStatus } from '../claims/claim.ts';
import type { RecordKind } from './files.ts';

/** An entry of a bundle as it was read. */
export interface FoundEntry {
  /** Lower-case hex: the one that the entry states. */
  digest: string;
  /** Its JSON; null for an entry that can be read in more than one way. */
  bytes: Uint8Array | null;
}

/** The knowledge of a run about a stream that records name: none, that it is refuted, or what its bundle holds. */
export type StreamStanding =
  | { kind: 'unknown'; reason: string }
  | { kind: 'refuted' }
  | {
      kind: 'read';
      /** The numbers of its entries; null where there are none. */
      first: number | null;
      last: number | null;
      /** The reason that nothing can be proved by its entries; null if order and content are proved. */
      open: string | null;
      /** Members of entries that no digest covers. */
      notCovered: readonly string[];
      notes: StreamNotes;
      /** The newest entry that the service listed before other services were asked; null where it does not say. */
      listed: number | null;
      /** When the package was asked for. */
      requestedAt: string;
    };

/** The entries of a stream that bear on records. */
export interface StreamNotes {
  find(sequence: number): FoundEntry | null;
  /** Records that entries say there are, by id, each with the number of the first entry that does. */
  implied(kind: RecordKind): ReadonlyMap<string, number>;
  /** Numbers of the entries that state members of a record anew, in their order. */
  later(kind: RecordKind, id: string): readonly number[];
}

/** A stream as it was judged, in an export or in a verification. */
export interface JudgedStream {
  status: StreamStatus | 'recorded';
  claims: ReportedClaims;
  first_sequence: number | null;
  head: { sequence: number } | null;
}

/** @param notes of the bundle that was judged; null where it was not read. */
export function standingOf(
  { status, claims, first_sequence, head }: JudgedStream,
  notes: StreamNotes | null,
  { listed, requestedAt }: { listed: number | null; requestedAt: string },
): StreamStanding {
  if (status === 'refuted') return { kind: 'refuted' };
  if (notes === null) return { kind: 'unknown', reason: 'the bundle of its stream was not opened' };
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
