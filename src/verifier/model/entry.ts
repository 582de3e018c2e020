import type { KeyObject } from 'node:crypto';
import type { Unhashed } from './unhashed.ts';

/** Keys by key id. */
export type SealKeys = ReadonlyMap<string, KeyObject>;

/** Entry of a hash chain in our terms, whatever the service calls its fields. Digests are lower-case hex. */
export interface Entry {
  /** Null if entries do not state their stream. */
  streamId: string | null;
  /** Position in the stream; the first is the contract's `firstSequence`. */
  sequence: number;
  /** Empty if the service shows none; so is `timestamp`. */
  entryId: string;
  /** Time at which the service recorded the entry; RFC 3339. */
  timestamp: string;
  /** Reads the entry's words on demand. */
  words(): EntryWords;
  /** Digest that the entry states for its predecessor; the contract's genesis value for the first entry. */
  previous: string;
  /** Digest that the entry states for itself. */
  digest: string;
  /** `digest` as written in the entry. */
  digestText: string;
  /** Result of our own computation of `digest`. */
  content: RecomputedDigest;
  /** Null if the entry has none; `malformed` if the value does not have the contract's encoding and length. */
  seal: Seal | 'malformed' | null;
}

/** Fields of an entry for people to read, if the contract says where they are. */
export interface EntryWords {
  /** Time at which the event happened, if stated in a readable form; RFC 3339 in UTC. */
  occurredAt: string | null;
  /** Truncated if long. */
  actor: string | null;
  action: string | null;
  /** Times between which the entry states that the clock was corrected; null if it states no correction. */
  corrected: ClockCorrection | null;
}

/** Times that an entry `clock.corrected` states, as sent: its own, and that of the entry before. */
export interface ClockCorrection {
  now: string;
  previous: string;
}

/** HMAC over an entry's digest, in lower-case hex; `keyId` is null if the entry names no key. */
export interface Seal {
  keyId: string | null;
  value: string;
}

/** Result of recomputing an entry's digest from its own bytes. */
export type RecomputedDigest =
  | {
      state: 'computed';
      digest: string;
      /** Id of the key used; null if the digest takes none. */
      keyId: string | null;
      /** Parts of the entry that the digest does not cover. */
      unhashed: readonly Unhashed[];
    }
  /** The recipe of the digest is not known. */
  | { state: 'no-recipe' }
  /** The digest takes a key that was not given. */
  | { state: 'no-key'; keyId: string }
  /** A number in the entry changes when read as the double that is hashed, so other entries share its digest. */
  | { state: 'inexact'; number: string }
  /** Two correct parsers could read different entries from these bytes, so no digest of them proves anything. */
  | { state: 'ambiguous'; reason: string };
