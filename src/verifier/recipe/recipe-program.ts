import type { Unhashed } from '../model/unhashed.ts';

/** Roles and recipe of a contract, compiled for a decoder. Plain data, so that it can be posted to another thread. */
// Over ten members: everything that a decoder knows of a contract.
export interface RecipeProgram {
  /** Number of a stream's first entry. */
  readonly firstSequence: number;
  /** Null if entries do not state it. */
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
  /** Key of an HMAC; null for a hash. */
  readonly digestKey: Key | null;
  /** Predecessor's digest that the first entry sends; a literal is JSON. */
  readonly genesis: 'zeros' | 'absent' | { readonly literal: string };
  readonly form: HashedJson;
  /**
   * Members of the entry as JSON: only `fields`, or all except `without`. Names are of the entry itself, not of inner
   * objects.
   */
  readonly fields: readonly string[] | null;
  readonly without: readonly string[];
  readonly preimage: readonly PreimageStep[];
  /** Members that other parts of the preimage hash, and those that cannot cover themselves. */
  readonly covered: readonly Path[];
  /** Groups of members, at most eight: an entry without any member of a group is open in the group's `unhashed`. */
  readonly groups: readonly { readonly paths: readonly Path[]; readonly unhashed: Unhashed }[];
  /** Parts that no digest by this recipe covers, in any entry. */
  readonly always: readonly Unhashed[];
  /** Members with a role, the gravest first: if unhashed, they are listed before others. */
  readonly roleOrder: readonly string[];
  readonly seal: {
    readonly value: Path;
    readonly key: Key;
    readonly algorithm: Hash;
    readonly encoding: Encoding;
    readonly over: 'digest-text' | 'digest-bytes';
  } | null;
}

/** Name of a member, or of an object and of a member in it. */
export type Path = readonly [string] | readonly [string, string];

export type Hash = 'sha-256' | 'sha-384' | 'sha-512';

export type Encoding = 'hex' | 'base64' | 'base64url';

/** Key with a fixed id, or with the id in a member. */
export type Key = { readonly id: string } | { readonly member: Path };

/** Form of JSON that is hashed. */
export type HashedJson =
  | { readonly kind: 'rfc8785' }
  /** `json.dumps`: `spaced` writes ", " and ": ", otherwise "," and ":". */
  | { readonly kind: 'python'; readonly ascii: boolean; readonly sorted: boolean; readonly spaced: boolean }
  | { readonly kind: 'as-sent' };

/** Consecutive parts of the hashed text. `unhashed` is the part that a step may leave open; null for none. */
export type PreimageStep =
  | { readonly kind: 'text'; readonly text: string }
  /** Predecessor's digest as sent; for the first entry, `first` unless null. */
  | { readonly kind: 'previous'; readonly first: string | null }
  | { readonly kind: 'previous-bytes' }
  /** Entry as JSON. */
  | { readonly kind: 'entry' }
  /** Member as JSON. */
  | { readonly kind: 'value'; readonly path: Path }
  /** Text of a member: the value of a string, everything else as sent, `nullAs` for null and for an absent member. */
  | { readonly kind: 'field'; readonly path: Path; readonly nullAs: string; readonly unhashed: Unhashed | null }
  /** Boundary that is open unless the separator occurs exactly `count` times in the text from step `from` on. */
  | {
      readonly kind: 'boundary';
      readonly from: number;
      readonly separator: string;
      readonly count: number;
      readonly unhashed: Unhashed;
    }
  /** Boundary that is open if the text of step `from` is a number. */
  | { readonly kind: 'number-boundary'; readonly from: number; readonly unhashed: Unhashed };
