import type { KeyObject } from 'node:crypto';
import { type NextStep, sayNextStep } from '../../core/errors.ts';
import type { Certificate } from '../../core/timestamp/certificate.ts';
import type { Operator, Restart, StreamPast } from '../../verifier/claims/schemas.ts';
import type { Recipients } from '../../verifier/encryption/keys.ts';
import type { LedgerEnd } from '../../verifier/ledger/end.ts';
import type { Past } from '../../verifier/ledger/past.ts';
import type { SealKeys } from '../../verifier/model/entry.ts';
import type { Contract } from '../../verifier/reading/contract.ts';
import type { ContractInUse } from '../../verifier/reading/in-use.ts';
import type { Question } from '../../verifier/records/question.ts';
import type { Acceptance, ReportOptions, RunRecord } from '../../verifier/records/record.ts';
import type { StoredSupplements } from '../../verifier/records/supplements.ts';
import type { NotedStreams } from '../../verifier/verify/noted-entries.ts';
import type { Archive } from '../archive/archive.ts';
import type { AuditClient } from '../client/audit.ts';
import type { Period } from '../client/period.ts';
import type { ClockReading } from '../clocks.ts';
import type { LedgerTrust } from '../ledger/trust.ts';
import type { CollectedSupplements } from '../supplements/collect.ts';
import type { SupplementSource } from '../supplements/source.ts';
import type { Bound } from './binding.ts';
import type { Listener } from './events.ts';
import type { Packing } from './packing.ts';
import type { ListedStream, StreamHeads } from './plan.ts';
import type { AccountPackage } from './received.ts';
import type { Stamping } from './stamp.ts';
import type { Recovered, StreamOutcome } from './stream-jobs.ts';

/** Service that the evidence comes from. */
export interface ServiceInUse {
  client: AuditClient;
  contract: Contract;
  /** Pinned contract file, which is added to every bundle; null for the default contract. */
  contractFile: ContractInUse['file'];
  /** Period of the packages: the requested one, or all time if the service cannot select a period. */
  packagePeriod: Period;
  /** True if the operator states that the archive's service has moved to this address. */
  isMoved: boolean;
  /** Services that supplements are collected from; null if none is configured. */
  supplements: SupplementSource | null;
}

/** Keys and roots that the evidence is judged by. */
interface EvidenceTrust {
  sealKeys: SealKeys;
  /** Trusted roots of time-stamping authorities; null if none are pinned. */
  roots: readonly Certificate[] | null;
}

/** Secrets by which an export recognizes its own objects in the archive; see `deriveBindingKey`. */
export interface Binding {
  /** Key that binds the run's objects; null for a run that cannot be resumed. */
  key: KeyObject | null;
  /** Random nonce for a new run; a run that is already begun has its own. */
  nonce: string;
  /** Derives the key of any beginning under this export's secrets. */
  keyFor: (bound: Bound) => Promise<KeyObject | null>;
}

interface Signing extends LedgerTrust {
  /** Time-stamping authority and its roots; null for a run without time-stamps. */
  stamping: Stamping | null;
}

/** Program and operator that make a run, and the options of its reports. */
interface Maker {
  tool: { name: string; version: string };
  /** Commit of the checkout that the program runs from; null for an installed package. */
  commit: string | null;
  operator: Operator;
  report: ReportOptions;
}

/** Resources of the stream jobs. */
export interface Runtime {
  /** Folder of this process for files on their way to the archive. */
  workDirectory: string;
  /** Number of streams that are exported concurrently. */
  concurrency: number;
  now: () => Date;
  signal: AbortSignal;
  listen: Listener;
  /** Runs the work on a stream, so that observers can attribute requests to it. */
  around: <T>(streamId: string, work: () => Promise<T>) => Promise<T>;
}

/** Everything that the jobs of one run share; assembled by `cli/`. */
// Over ten members: it is all that an export needs.
export interface ExportContext {
  question: Question;
  /** Earlier revisions that this run replaces, oldest first. */
  supersedes: readonly string[];
  /** Adds incomplete streams to the run itself instead of leaving an attempt. */
  finalizePartial: boolean;
  service: ServiceInUse;
  archive: Archive;
  /** Recipients that bundles are encrypted to; null for unencrypted bundles. */
  recipients: Recipients | null;
  /** Archives evidence that contains the API key instead of refusing it. */
  acceptsSecrets: boolean;
  trust: EvidenceTrust;
  binding: Binding;
  signing: Signing;
  maker: Maker;
  runtime: Runtime;
  /** Streams of this attempt that were handed out to workers; null if this process exports all. */
  handedOut: HandedOut | null;
}

/** Outcomes of the streams of an attempt that several machines work on. */
export interface HandedOut {
  /** Start of the attempt, on the machine that planned it. */
  startedAt: Date;
  /** Returns the outcome of a stream without a record; null if it has one, or if no worker was given the stream. */
  outcomeOf(stream: ListedStream): Promise<StreamOutcome | null>;
  /** Reports if a worker recovered the stream that it recorded; null unless these bytes are the worker's record. */
  recordedAs(record: { key: string; sha256: string }): Promise<{ recovered: Pick<Recovered, 'unread'> | null } | null>;
}

/** Time at which this or an earlier attempt began the run. */
export interface Beginning {
  at: Date;
  /** Time by the service's clock; null if the service did not state it. */
  byService: Date | null;
}

/** Time at which this attempt began. */
interface Start {
  at: Date;
  /** Reading of the service's clock at the start; null if the service did not state it. */
  clock: ClockReading | null;
}

/** State that stays fixed once a run has begun. */
// Over ten members: it is everything that a run must not request twice.
export interface RunState {
  beginning: Beginning;
  start: Start;
  /** Address that the service moved from; null if it did not move. */
  movedFrom: string | null;
  /** End of the ledger at the start of the attempt. */
  ledger: LedgerEnd;
  /** Last good heads of earlier exports, by stream id. */
  heads: StreamHeads;
  past: Past;
  acceptances: readonly Acceptance[];
  /** Accepted restarts by stream id, each with the entries that earlier runs had. */
  restarts: ReadonlyMap<string, readonly Restart[]>;
  /** Earlier attempts at this run that recorded their end. */
  attempts: RunRecord['attempts'];
  /** Collects the account's package when the first stream asks for it; null if each stream has its own package. */
  account: (() => Promise<AccountPackage>) | null;
  packing: Pick<Packing, typeof Symbol.asyncDispose | 'hasPackedMuch' | 'write'>;
  /** Evidence of other services; null if none is configured or it is already archived. */
  supplements: OpenSupplements | null;
  /** Supplements stored by an earlier attempt that was interrupted after collecting them. */
  storedSupplements: StoredSupplements | null;
}

/** Returns the entries that earlier runs in the ledger had of a stream. */
export function pastOf({ past, restarts }: Pick<RunState, 'past' | 'restarts'>, streamId: string): StreamPast {
  return { earlier: past.spans.get(streamId) ?? [], restarts: restarts.get(streamId) ?? [] };
}

/** Evidence of other services, and the entries that it refers to, noted while streams are read. */
export interface OpenSupplements {
  source: SupplementSource;
  collected: CollectedSupplements;
  notes: NotedStreams;
  /** Folder for files made from the supplements. */
  folder: string;
}

/** Says a next step to those who export: the same command adds nothing to a run that is finalized whatever is missing. */
export function sayStepOf({ finalizePartial }: Pick<ExportContext, 'finalizePartial'>, step: NextStep): string {
  return sayNextStep(step, finalizePartial ? 'export the run again with --revise' : undefined);
}
