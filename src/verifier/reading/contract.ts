import type { KeyObject } from 'node:crypto';
import type { Json } from '../../core/json/canonical.ts';
import type { Entry, EntryWords, SealKeys } from '../model/entry.ts';
import type { Unhashed } from '../model/unhashed.ts';
import type { RecipeProgram } from '../recipe/recipe-program.ts';
import type { OpenRole } from '../recipe/roles.ts';
import type { PlainStatement } from './plain-sight.ts';

/** The statements of a package about itself, apart from its entries. */
// Over ten members: it is the head of a package.
export interface PackageFacts {
  /** `account`: the entries of all streams in one package, in any order; it states no stream and no head. */
  scope: 'stream' | 'account';
  packageId: string | null;
  streamId: string | null;
  entryCount: number | null;
  firstSequence: number | null;
  lastSequence: number | null;
  /** Null when it says that there is none, undefined when it says nothing of it. */
  headDigest: string | null | undefined;
  generatedAt: string | null;
  checkpoints: Checkpoint[];
  plain: PlainStatement[];
  /** Other places with lists that look like its entries, and are not read. */
  otherEntries: string[];
}

/** A digest of the stream that an RFC 3161 authority has time-stamped. */
export interface Checkpoint {
  /** Null where it does not say. */
  streamId: string | null;
  sequence: number;
  digest: string;
  /** DER of the TimeStampResp or of the bare token; null when the authority has not answered yet. */
  token: Uint8Array | null;
}

/** The statements of the summary form. */
export interface SummaryFacts {
  packageId: string | null;
  streamId: string | null;
  entryCount: number | null;
  /** Null when it says that there is none, undefined when it says nothing of it. */
  headDigest: string | null | undefined;
  /** Numbers of entries by action; null where it does not say. */
  actions: [action: string, entries: number][] | null;
  plain: PlainStatement[];
}

/**
 * The way in which one kind of service writes entries. Readers throw `EvidenceError` `contract` when a field that plays
 * a role is missing or of another type, `unreadable` when the bytes are not JSON.
 */
// Over ten members: it is the port through which entries of every service are read.
export interface EntryReader {
  readonly hasSeals: boolean;
  /** True if it takes a key to recompute an entry's digest. */
  readonly hasKeyedDigests: boolean;
  /**
   * True if an entry's digest covers what the entry says of its predecessor. Otherwise a digest stands for its own
   * entry alone: an anchor, or an earlier head, says nothing of the entries before it.
   */
  readonly bindsPredecessor: boolean;
  /** The seal where digests do not cover it: then only who checks it knows that it is one. */
  readonly unhashedSeal: Unhashed | null;
  /** @param unhashed what digests say nothing about, `unhashedSeal` too. */
  openRoles(unhashed: Iterable<Unhashed>): OpenRole[];
  /** `previous` of the first entry of a stream, and the number of that entry. */
  readonly genesis: string;
  readonly firstSequence: number;
  /** For a fast decoder; null where there is none for this contract. */
  readonly program: RecipeProgram | null;
  /** @param members how many members the entry's objects have in all, counted in the bytes. */
  readEntry(bytes: Uint8Array, members: number, keys: SealKeys): Entry;
  /** As `words` of the entry. @param bytes of one that can be read. */
  describeEntry(bytes: Uint8Array): EntryWords;
  /** The seal that the holder of `key` would put on an entry. */
  sealOf(key: KeyObject, entry: Pick<Entry, 'digest' | 'digestText'>): string;
}

/** Forms of evidence packages, and of their summaries. Readers throw as those of entries. */
export interface PackageForm {
  /** The paths of the forms, with `{package_id}` in them; null for a form that the service has not got. */
  readonly downloads: Readonly<Record<'json' | 'pdf' | 'summary', string | null>>;
  /** The contents of a package: one stream, or all of the account. */
  readonly scope: PackageFacts['scope'];
  /** The member of a package that holds the entries: names from the outermost in; none when the package is the array. */
  readonly entriesPath: readonly string[];
  /** Member of entries by which they are counted as the summary counts them; null where the contract does not say it. */
  readonly countedAction: string | null;
  /** @param document the package without its entries. */
  readPackage(document: Json): PackageFacts;
  /** As `readPackage` of what precedes the entries: what is not there yet is null. */
  readPackageHead(document: Json): PackageFacts;
  /** Throws `unreadable` also where the contract's summaries are not JSON. */
  readSummary(bytes: Uint8Array): SummaryFacts;
}

/** Words of a contract, for people. */
export interface ContractWords {
  readonly name: string;
  /** The recipe of an entry's digest, as it is recorded beside a verdict; null when it is not known. */
  readonly recipe: string | null;
  /** Members of an entry that say these. */
  readonly fields: {
    readonly sequence: string;
    readonly previous: string;
    readonly digest: string;
    /** Null where entries have no time of recording. */
    readonly timestamp: string | null;
    readonly occurred_at?: string | null | undefined;
  };
}

/** A profile in use: how a service's entries and packages are read, and what they are called. */
export interface Contract extends EntryReader, PackageForm, ContractWords {}
