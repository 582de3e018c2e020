import { FindingLog } from '../chain/finding.ts';
import type { PackageReading } from '../chain/package.ts';
import type { WalkResult } from '../chain/walk.ts';
import type { Contract } from '../contract/contract.ts';
import type { Certificate } from '../timestamp/certificate.ts';
import { countActions } from './actions.ts';
import { factsOf, judgeAgreement, type PdfReading, type SummaryReading, type VendorVerdict } from './agreement.ts';
import { judgeAnchor } from './anchor.ts';
import {
  CLAIMS,
  type Claim,
  type ClaimName,
  type Claims,
  deviations,
  type Examination,
  meets,
  proved,
  refuted,
  type StreamStatus,
  unproved,
} from './claim.ts';
import { type CompletenessBasis, judgeCompleteness } from './completeness.ts';
import { type ContractFile, judgeContent } from './content.ts';
import { judgeContinuity } from './continuity.ts';
import { judgeSeal } from './seal.ts';
import type { Span } from './span-schema.ts';

/** Everything that was observed about one stream; the claims follow from it alone. */
export interface Observations {
  reading: PackageReading;
  /** Null when it was not delivered. */
  summary: SummaryReading | null;
  /** Null or absent when none was delivered whole. */
  pdf?: PdfReading | null;
  vendor: VendorVerdict | null;
  /** What every earlier run saw of the stream, the oldest first. */
  earlier: readonly Span[];
  /** Why the bundle of an earlier run could not be compared, by run id. */
  unread?: ReadonlyMap<string, string>;
  /** What the package was asked to hold. */
  period: Span['period'];
  /** The head's sequence number as the service's list of streams states it. */
  statedHead: number | null;
  /** How many entries the service said that the package has, when it was ready; null or absent where it did not. */
  statedCount?: number | null;
  /** The acceptance of the stream's restart, as a sentence, when the ledger has one. */
  restart: string | null;
  completeness: CompletenessBasis;
  /** The time-stamping authorities' roots that are trusted; null when none were pinned. */
  roots: readonly Certificate[] | null;
  now: Date;
  /** Whether any seal key was given. */
  sealKeysGiven: boolean;
  /** What the contract knows of digests and seals. */
  contract: Pick<Contract, 'name' | 'recipe' | 'hasSeals' | 'bindsPredecessor' | 'unhashedSeal' | 'openRoles'>;
  /** Null or absent for the default contract. */
  contractFile?: ContractFile | null;
  /** Roles and members that the reader accepts to be unhashed; none unless told. */
  acceptUnhashed?: readonly string[];
}

/**
 * From observations to the seven claims and the status of the stream.
 * @param required the claims that must be proved for the stream to be `verified`.
 */
export function examine(observations: Observations, required: readonly ClaimName[]): Examination {
  const { reading } = observations;
  const { walk, defect } = reading;
  const log = walk.findings;
  const findings = new FindingLog();
  if (defect !== null) findings.add(defect);
  // What the package of another stream holds says nothing about this one.
  const ofStream = reading.facts?.streamId ?? walk.streamId;
  if (defect !== null && ofStream !== walk.streamId) return judgeForeign(findings, defect.message);
  const claims = defect === null ? judge(observations, required) : judgeDefective(walk, defect.message);
  return {
    status: statusOf(claims, walk.entries, defect !== null, required),
    claims,
    findings: [...findings.list(), ...log.list()],
    findingsCount: findings.total() + log.total(),
    actions: defect === null ? countActions(factsOf(observations.summary), walk.entries) : null,
  };
}

function judge(observations: Observations, required: readonly ClaimName[]): Claims {
  const { reading, summary, vendor, statedHead } = observations;
  const { walk, facts } = reading;
  const order = judgeOrder(walk);
  const { contract, contractFile = null, acceptUnhashed: accepted = [], sealKeysGiven: keysGiven } = observations;
  const content = judgeContent({ walk, contract, contractFile, accepted });
  const seal = judgeSeal({ walk, hasSeals: contract.hasSeals, keysGiven, required: required.includes('seal') });
  const refutedByUs = [order, content, seal].some((claim) => claim.state === 'refuted');
  return {
    order,
    content,
    seal,
    anchor: judgeAnchor(
      {
        walk,
        checkpoints: facts?.checkpoints ?? [],
        roots: observations.roots,
        now: observations.now,
        period: observations.period,
        bindsPrevious: contract.bindsPredecessor,
      },
      walk.findings,
    ),
    continuity: judgeContinuity({ walk, ...observations }, walk.findings),
    completeness: judgeCompleteness(
      { walk, basis: observations.completeness, period: observations.period, statedHead },
      walk.findings,
    ),
    agreement:
      facts === null
        ? unproved('the JSON form could not be read')
        : facts.scope === 'account'
          ? unproved('a package of the whole account states nothing of one stream')
          : judgeAgreement(
              {
                walk,
                facts,
                summary,
                pdf: observations.pdf ?? null,
                statedCount: observations.statedCount ?? null,
                vendor,
                refutedByUs,
              },
              walk.findings,
            ),
  };
}

function judgeForeign(findings: FindingLog, reason: string): Examination {
  const claims = Object.fromEntries(CLAIMS.map((name) => [name, unproved(reason)])) as Claims;
  return { status: 'incomplete', claims, findings: findings.list(), findingsCount: findings.total(), actions: null };
}

/** What was found before the defect stands; nothing is proved by a part. */
function judgeDefective(walk: WalkResult, reason: string): Claims {
  const found = (name: ClaimName): Claim =>
    walk.findings.errors(name) > 0 ? refuted(deviations(walk.findings, name)) : unproved(reason);
  return {
    order: found('order'),
    content: found('content'),
    seal: found('seal'),
    anchor: unproved(reason),
    continuity: unproved(reason),
    completeness: unproved(reason),
    agreement: unproved(reason),
  };
}

function judgeOrder(walk: WalkResult): Claim {
  if (walk.findings.errors('order') > 0) return refuted(deviations(walk.findings, 'order'));
  if (walk.first === null || walk.head === null) return unproved('there are no entries');
  return proved(
    `${walk.entries} entries, ${walk.first.sequence} to ${walk.head.sequence}, each naming the one before it`,
  );
}

function statusOf(claims: Claims, entries: number, defective: boolean, required: readonly ClaimName[]): StreamStatus {
  if (Object.values(claims).some((claim) => claim.state === 'refuted')) return 'refuted';
  if (defective) return 'incomplete';
  if (entries === 0) return 'empty';
  return meets(claims, required) ? 'verified' : 'incomplete';
}
