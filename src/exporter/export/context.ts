import type { KeyObject } from 'node:crypto';
import type { Archive } from '../../verifier/archive/archive.ts';
import type { ClaimName } from '../../verifier/claims/claim.ts';
import type { Restart, StreamPast } from '../../verifier/claims/span-schema.ts';
import type { Operator } from '../../verifier/claims/stated-schema.ts';
import type { Recipients } from '../../verifier/encryption/recipients.ts';
import type { LedgerEnd } from '../../verifier/ledger/ledger.ts';
import type { Past } from '../../verifier/ledger/past.ts';
import type { SealKeys } from '../../verifier/model/entry.ts';
import type { Contract } from '../../verifier/reading/contract.ts';
import type { ContractInUse } from '../../verifier/reading/in-use.ts';
import type { Question } from '../../verifier/records/question.ts';
import type { Acceptance, LedgerHead, ReportOptions, RunRecord } from '../../verifier/records/record.ts';
import type { PublicKey, SigningKey } from '../../verifier/signature/key.ts';
import type { Certificate } from '../../verifier/timestamp/certificate.ts';
import type { AuditClient } from '../client/audit.ts';
import type { Period } from '../client/period.ts';
import type { Listener } from './events.ts';
import type { CompletenessMode } from './listing.ts';
import type { Packing } from './packing.ts';
import type { AccountPackage } from './received.ts';
import type { Stamping } from './stamp.ts';

/** What the user asked to be exported. */
export interface Scope {
  /** Globs over stream ids; none means all. */
  streams: string[];
  exclude: string[];
  request: string | null;
  requestedBy: string | null;
}

/** Everything that the jobs of one run share; `cli/` composes it. */
export interface ExportContext {
  client: AuditClient;
  archive: Archive;
  contract: Contract;
  /** The file of a pinned contract, which goes into every bundle; null for the default one. */
  contractFile: ContractInUse['file'];
  /** Address of the service, without what is secret in it. */
  auditUrl: string;
  /** Somebody says that the service of the archive has this address now; no unless told. */
  serviceMoved?: boolean;
  runId: string;
  period: Period;
  /** What its packages hold: the period, or all there is where the service cannot select. */
  packagePeriod: Period;
  scope: Scope;
  required: readonly ClaimName[];
  /** Roles and members of entries that may be left out of their digests; none unless told. */
  acceptUnhashed?: readonly string[];
  completeness: CompletenessMode;
  sealKeys: SealKeys;
  /** The roots of the time-stamping authorities that are trusted; null when none were pinned. */
  roots: readonly Certificate[] | null;
  /** To whom bundles are encrypted; null for bundles that everybody can read who can read the archive. */
  recipients: Recipients | null;
  /** Null for a run that is not signed. */
  signingKey: SigningKey | null;
  /** Of the signing keys before this one. */
  publicKeys: readonly PublicKey[];
  /** See `LedgerTrust`; no unless told. */
  beginSigning?: boolean;
  /** See `deriveBindingKey`; null for a run that cannot be resumed. */
  bindingKey: KeyObject | null;
  /** The same for what may have been asked before. */
  bindingKeyFor: (question: Question) => Promise<KeyObject | null>;
  /** Null for a run that is not time-stamped. */
  stamping: Stamping | null;
  /** Incomplete streams go into the run itself instead of an attempt. */
  finalizePartial: boolean;
  concurrency: number;
  /** A folder of this process alone, for what is on its way into the archive. */
  workDirectory: string;
  tool: { name: string; version: string };
  /** Of the checkout that the program runs from; null for an installed package. */
  commit: string | null;
  report: ReportOptions;
  operator: Operator;
  now: () => Date;
  signal: AbortSignal;
  listen: Listener;
}

/** What is fixed once a run has begun. */
export interface RunState {
  /** When the run was begun, by this attempt or an earlier one. */
  begunAt: Date;
  startedAt: Date;
  /** The address that the service moved from; null where it did not. */
  movedFrom: string | null;
  /** Where the ledger ended then. */
  ledger: LedgerEnd;
  /** The last good heads of earlier exports, by stream id. */
  heads: ReadonlyMap<string, LedgerHead>;
  past: Past;
  acceptances: readonly Acceptance[];
  /** The same by stream id, each with what the runs before it had. */
  restarts: ReadonlyMap<string, readonly Restart[]>;
  /** The tries of this run before this one that wrote down that they ended. */
  attempts: RunRecord['attempts'];
  /** The package of the whole account, collected when the first stream asks; null where each stream has its own. */
  account: (() => Promise<AccountPackage>) | null;
  packing: Pick<Packing, 'write'>;
}

/** What the runs before had of a stream, as the ledger has it. */
export function pastOf({ past, restarts }: Pick<RunState, 'past' | 'restarts'>, streamId: string): StreamPast {
  return { earlier: past.spans.get(streamId) ?? [], restarts: restarts.get(streamId) ?? [] };
}
