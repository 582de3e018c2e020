import { plural } from '../../core/plurals.ts';
import type { WalkResult } from '../chain/walk.ts';
import { FindingLog } from '../model/finding-log.ts';
import { type StreamFinding, toStreamFinding } from '../model/stream-finding.ts';
import { toActionCounts } from './actions.ts';
import { factsOf, judgeAgreement } from './agreement.ts';
import type { OwnVerdict } from './agreement-vendor.ts';
import { judgeAnchor } from './anchor.ts';
import {
  type Claim,
  type ClaimName,
  type Claims,
  deviations,
  type Examination,
  type Judgement,
  mapClaims,
  type OpenCode,
  proved,
  refuted,
  type StreamStatus,
  statusBy,
  unproved,
} from './claim.ts';
import { judgeCompleteness } from './completeness.ts';
import { judgeContent } from './content.ts';
import { judgeContinuity } from './continuity.ts';
import { withKnownGaps } from './gaps.ts';
import type { Observations } from './observe.ts';
import { judgeSeal } from './seal.ts';
import { findLate } from './unfetched.ts';

/**
 * Derives the seven claims and the status of the stream from observations, which stay unchanged.
 * @param required claims that must be proved for the status `verified`.
 */
export function examine(observations: Observations, required: readonly ClaimName[]): Examination {
  const { reading, known, forms } = observations;
  const { walk, defect } = reading;
  const own = new FindingLog();
  if (defect !== null) own.add(defect);
  for (const form of known.secrets.found_in) own.add(toSecretFinding(walk.streamId, form, known.secrets.accepted));
  // The package of another stream says nothing about this one.
  const ofStream = reading.facts?.streamId ?? walk.streamId;
  if (defect !== null && ofStream !== walk.streamId) return judgeForeign(own, defect.message);
  const { claims, findings } = defect === null ? judge(observations, required) : judgeDefective(walk, defect.message);
  const all = [...own.list(), ...findings.list()];
  return {
    status: statusOf(
      claims,
      walk.entries,
      defect !== null || forms.isShort || isLeftOut(walk, known) || isExposed(known),
      required,
    ),
    claims,
    findings: forms.isAltered
      ? all.map((finding) => ({ ...finding, advice: { code: 'get_unaltered' } }))
      : withKnownGaps(all, known.earlier ?? []),
    findingsCount: own.total() + findings.total(),
    actions: defect === null ? toActionCounts(factsOf(forms.summary), walk.actions) : null,
  };
}

/** Reports whether entries that belong to an export, or may, are in none. */
function isLeftOut(walk: WalkResult, { earlier, unfetched }: Observations['known']): boolean {
  return findLate(walk, earlier ?? [], unfetched).length > 0;
}

function isExposed({ secrets }: Observations['known']): boolean {
  return secrets.found_in.length > 0 && !secrets.accepted;
}

/** Returns a finding that never shows the key. */
function toSecretFinding(streamId: string, form: string, isAccepted: boolean): StreamFinding {
  const message = `the ${form} form holds the API key that it was exported with`;
  return toStreamFinding(isAccepted ? 'secret/accepted' : 'secret/in-evidence', streamId, message);
}

/** Claims of all judges, and the findings of the judges and the walk. */
interface Judged {
  claims: Claims;
  findings: FindingLog;
}

function judge(observations: Observations, required: readonly ClaimName[]): Judged {
  const { known, measures } = observations;
  const { walk, facts } = observations.reading;
  const { contract, contractFile, acceptUnhashed: accepted, sealKeysGiven: keysGiven } = measures;
  const order = judgeOrder(walk);
  const content = judgeContent({ walk, contract, contractFile, accepted, required: required.includes('content') });
  const seal = judgeSeal({ walk, hasSeals: contract.hasSeals, keysGiven, required: required.includes('seal') });
  const ownVerdict = verdictOf(walk, [order, content], contract.hasSeals ? [seal.claim] : []);
  const { bindsPredecessor: bindsPrevious } = contract;
  const { period } = known;
  const anchor = judgeAnchor({ ...measures, walk, checkpoints: facts?.checkpoints ?? [], period, bindsPrevious });
  const continuity = judgeContinuity({ ...known, walk });
  const completeness = judgeCompleteness({
    ...known,
    walk,
    firstSequence: contract.firstSequence,
    basis: known.completeness,
  });
  const agreement = judgeForms(observations, ownVerdict);
  const findings = new FindingLog();
  for (const log of [walk, seal, anchor, continuity, completeness, agreement]) findings.addAll(log.findings);
  return {
    claims: {
      order,
      content,
      seal: seal.claim,
      anchor: anchor.claim,
      continuity: continuity.claim,
      completeness: completeness.claim,
      agreement: agreement.claim,
    },
    findings,
  };
}

function verdictOf({ seals }: WalkResult, chain: readonly Claim[], seal: readonly Claim[]): OwnVerdict {
  const claims = [...chain, ...seal];
  const isRefuted = (some: readonly Claim[]) => some.some(({ state }) => state === 'refuted');
  if (isRefuted(chain)) return 'refuted';
  if (isRefuted(seal)) return seals.verified === 0 && seals.keyIds.size > 0 ? 'keys' : 'refuted';
  return claims.every(({ state }) => state === 'proved') ? 'proved' : 'open';
}

const ALTERED =
  "the bundle is not what it states, so its differences say nothing about the service's forms and verdict";

function judgeForms(observations: Observations, ownVerdict: OwnVerdict): Judgement {
  const { walk, facts } = observations.reading;
  const { summary, pdf, isAltered } = observations.forms;
  const { vendor, statedCount } = observations.known;
  const without = (code: OpenCode, reason: string) => ({ claim: unproved(code, reason), findings: new FindingLog() });
  if (isAltered) return without('bundle-altered', ALTERED);
  if (facts === null) return without('form-not-read', 'the JSON form could not be read');
  if (facts.scope === 'account')
    return without('account-package', 'a package of the whole account states nothing of one stream');
  return judgeAgreement({ walk, facts, summary, pdf, statedCount, vendor, ownVerdict });
}

function judgeForeign(findings: FindingLog, reason: string): Examination {
  const claims = mapClaims(() => unproved('not-read', reason));
  return { status: 'incomplete', claims, findings: findings.list(), findingsCount: findings.total(), actions: null };
}

/** Judges a package with a defect: earlier findings stand, and a part proves nothing. */
function judgeDefective({ findings }: WalkResult, reason: string): Judged {
  const claims = mapClaims((name): Claim => {
    const faults = findings.errors(name);
    return faults > 0 ? refuted(deviations(faults)) : unproved('not-read', reason);
  });
  return { claims, findings };
}

function judgeOrder(walk: WalkResult): Claim {
  const faults = walk.findings.errors('order');
  if (faults > 0) return refuted(deviations(faults));
  if (walk.first === null || walk.head === null) return unproved('no-entries', 'there are no entries');
  const { entries, first, head } = walk;
  if (entries === 1) return proved(`1 entry, number ${first.sequence}, with none before it here`);
  return proved(`${plural(entries, 'entry')}, ${first.sequence} to ${head.sequence}, each naming the one before it`);
}

function statusOf(claims: Claims, entries: number, isShort: boolean, required: readonly ClaimName[]): StreamStatus {
  if (Object.values(claims).some((claim) => claim.state === 'refuted')) return 'refuted';
  if (isShort) return 'incomplete';
  if (entries === 0) return 'empty';
  return statusBy(claims, required);
}
