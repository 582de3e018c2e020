import type { KeyObject } from 'node:crypto';
import type { Json } from '../../core/json/canonical.ts';
import type { Entry, EntryWords, SealKeys } from '../model/entry.ts';
import type { Unhashed } from '../model/unhashed.ts';
import type { RecipeProgram } from '../recipe/recipe-program.ts';
import type { OpenRole } from '../recipe/roles.ts';
import type { PlainStatement } from './plain-sight.ts';

/** Statements of a package about itself, apart from its entries. */
// Over ten members: the head of a package.
export interface PackageFacts {
  /** `account`: the entries of all streams in one package, in any order; states no stream and no head. */
  scope: 'stream' | 'account';
  packageId: string | null;
  streamId: string | null;
  entryCount: number | null;
  firstSequence: number | null;
  lastSequence: number | null;
  /** Null if the package states that there is none; undefined if it states nothing. */
  headDigest: string | null | undefined;
  generatedAt: string | null;
  checkpoints: Checkpoint[];
  plain: PlainStatement[];
  /** Paths of other lists that look like entries and are not read. */
  otherEntries: string[];
}

/** Digest of the stream that an RFC 3161 authority has time-stamped. */
export interface Checkpoint {
  /** Null if not stated. */
  streamId: string | null;
  sequence: number;
  digest: string;
  /** DER of the TimeStampResp or of the bare token; null if the authority has not answered yet. */
  token: Uint8Array | null;
}

/** Statements of the summary form. */
export interface SummaryFacts {
  packageId: string | null;
  streamId: string | null;
  entryCount: number | null;
  /** Null if the summary states that there is none; undefined if it states nothing. */
  headDigest: string | null | undefined;
  /** Numbers of entries by action; null if not stated. */
  actions: [action: string, entries: number][] | null;
  plain: PlainStatement[];
}

/**
 * Reads entries as one kind of service writes them. Readers throw `EvidenceError` `contract` if a field with a role is
 * missing or has another type, and `unreadable` if the bytes are not JSON.
 */
// Over ten members: the port through which entries of every service are read.
export interface EntryReader {
  readonly hasSeals: boolean;
  /** True if recomputing a digest takes a key. */
  readonly hasKeyedDigests: boolean;
  /**
   * True if an entry's digest covers the predecessor that the entry states. Otherwise a digest stands for its own entry
   * alone: an anchor, or an earlier head, says nothing about the entries before it.
   */
  readonly bindsPredecessor: boolean;
  /** Member of the seal, if digests do not cover it: then only a check of the seal shows that the member is one. */
  readonly unhashedSeal: Unhashed | null;
  /** @param unhashed parts that digests do not cover, including `unhashedSeal`. */
  openRoles(unhashed: Iterable<Unhashed>): OpenRole[];
  /** `previous` of a stream's first entry, and the number of that entry. */
  readonly genesis: string;
  readonly firstSequence: number;
  /** Program for the fast decoder; null if the contract has none. */
  readonly program: RecipeProgram | null;
  /** @param members number of members of all objects in the entry, counted in the bytes. */
  readEntry(bytes: Uint8Array, members: number, keys: SealKeys): Entry;
  /** Returns the same as the entry's `words`. @param bytes of an entry that can be read. */
  describeEntry(bytes: Uint8Array): EntryWords;
  /** Returns the seal that the holder of `key` would put on an entry. */
  sealOf(key: KeyObject, entry: Pick<Entry, 'digest' | 'digestText'>): string;
}

/** Forms of evidence packages and of their summaries. Readers throw the same errors as those of entries. */
export interface PackageForm {
  /** Paths of the forms, with the placeholder `{package_id}`; null for a form that the service does not offer. */
  readonly downloads: Readonly<Record<'json' | 'pdf' | 'summary', string | null>>;
  /** Content of a package: one stream, or the whole account. */
  readonly scope: PackageFacts['scope'];
  /** Path of the member that holds the entries, outermost name first; empty if the package is the array. */
  readonly entriesPath: readonly string[];
  /** Entry member by which the summary counts entries; null if the contract does not say. */
  readonly countedAction: string | null;
  /** @param document the package without its entries. */
  readPackage(document: Json): PackageFacts;
  /** Reads what precedes the entries, like `readPackage`; members that have not arrived are null. */
  readPackageHead(document: Json): PackageFacts;
  /** Throws `unreadable` also if the contract's summaries are not JSON. */
  readSummary(bytes: Uint8Array): SummaryFacts;
}

/** Names that a contract gives, for people to read. */
export interface ContractWords {
  readonly name: string;
  /** Recipe of an entry's digest, as recorded with a verdict; null if not known. */
  readonly recipe: string | null;
  /** Names of the entry members with these roles. */
  readonly fields: {
    readonly sequence: string;
    readonly previous: string;
    readonly digest: string;
    /** Null if entries have no time of recording. */
    readonly timestamp: string | null;
    readonly occurred_at?: string | null | undefined;
  };
}

/** Profile in use: reads a service's entries and packages, and names their members. */
export interface Contract extends EntryReader, PackageForm, ContractWords {}
