import type { KeyObject } from 'node:crypto';
import type { Operator, Restart, StreamPast } from '../../verifier/claims/schemas.ts';
import type { Recipients } from '../../verifier/encryption/keys.ts';
import type { Past } from '../../verifier/ledger/past.ts';
import type { LedgerEnd, LedgerTrust } from '../../verifier/ledger/trust.ts';
import type { SealKeys } from '../../verifier/model/entry.ts';
import type { Contract } from '../../verifier/reading/contract.ts';
import type { ContractInUse } from '../../verifier/reading/in-use.ts';
import type { Question } from '../../verifier/records/question.ts';
import type { Acceptance, ReportOptions, RunRecord } from '../../verifier/records/record.ts';
import type { StoredSupplements } from '../../verifier/records/supplements.ts';
import type { Certificate } from '../../verifier/timestamp/certificate.ts';
import type { NotedStreams } from '../../verifier/verify/noted-entries.ts';
import type { Archive } from '../archive/archive.ts';
import type { AuditClient } from '../client/audit.ts';
import type { Period } from '../client/period.ts';
import type { ClockReading } from '../clocks.ts';
import type { CollectedSupplements } from '../supplements/collect.ts';
import type { SupplementSource } from '../supplements/source.ts';
import type { Bound } from './binding.ts';
import type { Listener } from './events.ts';
import type { Packing } from './packing.ts';
import type { ListedStream, StreamHeads } from './plan.ts';
import type { AccountPackage } from './received.ts';
import type { Stamping } from './stamp.ts';
import type { Recovered, StreamOutcome } from './stream-jobs.ts';

/** The service that evidence is from. */
export interface ServiceInUse {
  client: AuditClient;
  contract: Contract;
  /** The file of a pinned contract, which goes into every bundle; null for the default one. */
  contractFile: ContractInUse['file'];
  /** The period that its packages hold, or all there is where it cannot select. */
  packagePeriod: Period;
  /** Somebody says that the service of the archive has this address now. */
  isMoved: boolean;
  /** The services that supplements are collected from; null where none is configured. */
  supplements: SupplementSource | null;
}

/** Trust by which evidence is judged. */
interface EvidenceTrust {
  sealKeys: SealKeys;
  /** The roots of the time-stamping authorities that are trusted; null when none were pinned. */
  roots: readonly Certificate[] | null;
}

/** By what an export knows again what it left in the archive; see `deriveBindingKey`. */
export interface Binding {
  /** Null for a run that cannot be resumed. */
  key: KeyObject | null;
  /** Random text that the run is begun with, unless it is begun already. */
  nonce: string;
  /** Key of any beginning, under the secrets of this export. */
  keyFor: (bound: Bound) => Promise<KeyObject | null>;
}

interface Signing extends LedgerTrust {
  /** Null for a run that is not time-stamped. */
  stamping: Stamping | null;
}

/** The maker of a run, and the readers of its reports. */
interface Maker {
  tool: { name: string; version: string };
  /** The commit of the checkout that the program runs from; null for an installed package. */
  commit: string | null;
  operator: Operator;
  report: ReportOptions;
}

/** The resources of the jobs. */
export interface Runtime {
  /** A folder of this process alone, for what is on its way into the archive. */
  workDirectory: string;
  /** The number of streams that are exported at a time. */
  concurrency: number;
  now: () => Date;
  signal: AbortSignal;
  listen: Listener;
  /** Carries out the work on a stream; what watches over it may tell whose requests are whose. */
  around: <T>(streamId: string, work: () => Promise<T>) => Promise<T>;
}

/** Everything that the jobs of one run share; `cli/` composes it. */
// Over ten members: it is all that an export works with.
export interface ExportContext {
  question: Question;
  /** Runs of the same name that this one takes the place of, the oldest first. */
  supersedes: readonly string[];
  /** Incomplete streams go into the run itself instead of an attempt. */
  finalizePartial: boolean;
  service: ServiceInUse;
  archive: Archive;
  /** To whom bundles are encrypted; null for bundles that everybody can read who can read the archive. */
  recipients: Recipients | null;
  /** Evidence that holds the API key is archived as if it did not. */
  acceptsSecrets: boolean;
  trust: EvidenceTrust;
  binding: Binding;
  signing: Signing;
  maker: Maker;
  runtime: Runtime;
  /** Streams of this attempt that workers were given; null where this process exports all. */
  handedOut: HandedOut | null;
}

/** Outcomes of the streams of an attempt that several machines work on. */
export interface HandedOut {
  /** When the attempt began, wherever that was. */
  startedAt: Date;
  /** Returns the end of a stream that is not recorded; null where it is, or where no worker was given the stream. */
  outcomeOf(stream: ListedStream): Promise<StreamOutcome | null>;
  /** Returns how a worker came by the stream that it recorded; null unless these bytes are the record that it wrote. */
  recordedAs(record: { key: string; sha256: string }): Promise<{ recovered: Pick<Recovered, 'unread'> | null } | null>;
}

/** When a run was begun, by this attempt or an earlier one. */
export interface Beginning {
  at: Date;
  /** By the service's clock; null where it did not say. */
  byService: Date | null;
}

/** When this attempt began. */
interface Start {
  at: Date;
  /** The time at the service then; null where it did not say. */
  clock: ClockReading | null;
}

/** The state that is fixed once a run has begun. */
// Over ten members: everything that a run must not ask for twice.
export interface RunState {
  beginning: Beginning;
  start: Start;
  /** The address that the service moved from; null where it did not. */
  movedFrom: string | null;
  /** The end of the ledger then. */
  ledger: LedgerEnd;
  /** The last good heads of earlier exports, by stream id. */
  heads: StreamHeads;
  past: Past;
  acceptances: readonly Acceptance[];
  /** The same by stream id, each with what the runs before it had. */
  restarts: ReadonlyMap<string, readonly Restart[]>;
  /** The tries of this run before this one that wrote down that they ended. */
  attempts: RunRecord['attempts'];
  /** The package of the whole account, collected when the first stream asks; null where each stream has its own. */
  account: (() => Promise<AccountPackage>) | null;
  packing: Pick<Packing, 'close' | 'hasPackedMuch' | 'write'>;
  /** The evidence of the other services; null where none is configured, or where it is archived already. */
  supplements: OpenSupplements | null;
  /** Supplements of an earlier try that was interrupted after them. */
  storedSupplements: StoredSupplements | null;
}

/** Returns the entries that the runs before had of a stream, by the ledger. */
export function pastOf({ past, restarts }: Pick<RunState, 'past' | 'restarts'>, streamId: string): StreamPast {
  return { earlier: past.spans.get(streamId) ?? [], restarts: restarts.get(streamId) ?? [] };
}

/** The evidence of the other services, and the entries that it names, noted while streams are read. */
export interface OpenSupplements {
  source: SupplementSource;
  collected: CollectedSupplements;
  notes: NotedStreams;
  /** For what is made of them. */
  folder: string;
}
