import type { Unhashed } from '../model/unhashed.ts';

/**
 * A contract's roles and its recipe of digests, compiled for a decoder. Plain data, so that it can be posted to another
 * thread.
 */
// Over ten members: it is all that a decoder is told of a contract.
export interface RecipeProgram {
  /** The number of a stream's first entry. */
  readonly firstSequence: number;
  /** Null for what entries do not say. */
  readonly roles: {
    readonly sequence: Path;
    readonly previous: Path;
    readonly digest: Path;
    readonly streamId: Path | null;
    readonly timestamp: Path | null;
    readonly entryId: Path | null;
  };
  /** True if sequence numbers may be sent as text. */
  readonly textNumbers: boolean;
  readonly timestampUnit: 'text' | 'seconds' | 'milliseconds';
  readonly digest: { readonly algorithm: Hash; readonly encoding: Encoding; readonly prefix: string };
  /** The key of an HMAC. */
  readonly digestKey: Key | null;
  /** The predecessor's digest that the first entry sends; a literal as JSON. */
  readonly genesis: 'zeros' | 'absent' | { readonly literal: string };
  readonly form: HashedJson;
  /** Members of the entry as JSON: these alone, or all without these. They are of the entry itself, not of objects in it. */
  readonly fields: readonly string[] | null;
  readonly without: readonly string[];
  readonly preimage: readonly PreimageStep[];
  /** Members that are hashed by other parts of the preimage, and those that cannot cover themselves. */
  readonly covered: readonly Path[];
  /** At most eight groups of members, of each of which an entry should have one; `unhashed` is said of one that has not. */
  readonly groups: readonly { readonly paths: readonly Path[]; readonly unhashed: Unhashed }[];
  /** Parts that no digest by this recipe is over, whatever the entry. */
  readonly always: readonly Unhashed[];
  /** Members that play a role, the gravest first: unhashed, they are said before others. */
  readonly roleOrder: readonly string[];
  readonly seal: {
    readonly value: Path;
    readonly key: Key;
    readonly algorithm: Hash;
    readonly encoding: Encoding;
    readonly over: 'digest-text' | 'digest-bytes';
  } | null;
}

/** The name of a member, or of an object and of a member of it. */
export type Path = readonly [string] | readonly [string, string];

export type Hash = 'sha-256' | 'sha-384' | 'sha-512';

export type Encoding = 'hex' | 'base64' | 'base64url';

/** The one of an id, or the one that a member names. */
export type Key = { readonly id: string } | { readonly member: Path };

/** The form of JSON that is hashed. */
export type HashedJson =
  | { readonly kind: 'rfc8785' }
  /** `json.dumps`: `spaced` with ", " and ": ", else "," and ":". */
  | { readonly kind: 'python'; readonly ascii: boolean; readonly sorted: boolean; readonly spaced: boolean }
  | { readonly kind: 'as-sent' };

/** One part after another of what is hashed. `unhashed` is what such a part may leave open; null for nothing. */
export type PreimageStep =
  | { readonly kind: 'text'; readonly text: string }
  /** As it was sent; in the first entry `first`, unless that is null. */
  | { readonly kind: 'previous'; readonly first: string | null }
  | { readonly kind: 'previous-bytes' }
  /** The entry as JSON. */
  | { readonly kind: 'entry' }
  /** A member as JSON. */
  | { readonly kind: 'value'; readonly path: Path }
  /** A member's text: a string's meaning, everything else as sent, `nullAs` for null and for nothing. */
  | { readonly kind: 'field'; readonly path: Path; readonly nullAs: string; readonly unhashed: Unhashed | null }
  /** The end of the fields from step `from` on is open, unless the separator is in their text just so many times. */
  | {
      readonly kind: 'boundary';
      readonly from: number;
      readonly separator: string;
      readonly count: number;
      readonly unhashed: Unhashed;
    }
  /** The end of the text of step `from` is open if it is a number. */
  | { readonly kind: 'number-boundary'; readonly from: number; readonly unhashed: Unhashed };
