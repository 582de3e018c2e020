import type { KeyObject } from 'node:crypto';
import type { Unhashed } from './unhashed.ts';

/** By key id. */
export type SealKeys = ReadonlyMap<string, KeyObject>;

/**
 * One entry of a hash chain as our rules see it, whatever the service calls its fields. Digests are lower-case hex.
 */
export interface Entry {
  /** Null where entries do not say to which stream they belong. */
  streamId: string | null;
  /** Position in the stream; the first is the contract's `firstSequence`. */
  sequence: number;
  /** Empty where the service shows none, like `timestamp`. */
  entryId: string;
  /** RFC 3339: when the service recorded it. */
  timestamp: string;
  /** Read when it is asked for. */
  words(): EntryWords;
  /** The digest that the entry says its predecessor has; the contract's genesis value for the first. */
  previous: string;
  /** The digest that the entry says it has itself. */
  digest: string;
  /** `digest` as it is written. */
  digestText: string;
  /** The result of our own computation of `digest`. */
  content: RecomputedDigest;
  /** Null where it has none; `malformed` for what is no text of the contract's encoding and length. */
  seal: Seal | 'malformed' | null;
}

/** Words of an entry for people, as far as the contract names where they are. */
export interface EntryWords {
  /** When it happened, where it says so in a time that can be read; RFC 3339 in UTC. */
  occurredAt: string | null;
  /** Cut where they are long. */
  actor: string | null;
  action: string | null;
}

/** An HMAC over an entry's digest, in lower-case hex; `keyId` is null where the entry does not name its key. */
export interface Seal {
  keyId: string | null;
  value: string;
}

/** The result of computing an entry's digest anew from its own bytes. */
export type RecomputedDigest =
  | {
      state: 'computed';
      digest: string;
      /** The id of the key that it is made with; null for none. */
      keyId: string | null;
      /** Members of the entry about which the digest says nothing. */
      unhashed: readonly Unhashed[];
    }
  /** Nobody knows how the digest is made. */
  | { state: 'no-recipe' }
  /** It is made with a key that was not given. */
  | { state: 'no-key'; keyId: string }
  /** A number in it, as written here, is another one as the double that is hashed: others share that digest. */
  | { state: 'inexact'; number: string }
  /** Two correct readers could see different entries in these bytes, so no digest of them proves anything. */
  | { state: 'ambiguous'; reason: string };
