import type { Verification } from '../bundle/documents.ts';
import type { WalkResult } from '../chain/walk.ts';
import { CLAIMS, type ClaimName, statusBy } from '../claims/claim.ts';
import { isSamePeriod } from '../claims/span.ts';
import type { Verdict } from '../claims/verdict.ts';
import type { SealKeys } from '../model/entry.ts';
import type { Contract } from '../reading/contract.ts';
import { type ObjectFinding, toObjectFinding } from './object-finding.ts';

interface OpenClaims {
  /**
   * Claims that rest on keys and roots, of which the reader and the exporter may have different ones: each result is
   * right.
   */
  byTrust: readonly ClaimName[];
  /** Claims that cannot be proved here: leaving them unproved contradicts nothing. */
  unproved: readonly ClaimName[];
}

type Difference = readonly [what: string, expected: string, actual: string];

/**
 * Finds statements of a bundle that contradict our own result or each other.
 * @param place of the statement.
 * @param open claims that cannot be judged here as in the export: differences in them contradict nothing.
 * @param contract by which the bundle was read; null if the reader supplied another.
 */
export function contradictions(
  place: string,
  stated: Verification,
  { verdict: ours, walk }: { verdict: Verdict; walk: Pick<WalkResult, 'seals'> | null },
  open: OpenClaims,
  contract: Contract | null,
): ObjectFinding[] {
  const differences = [
    ...compareFacts(stated.verdict, ours),
    ...compareClaims(stated.verdict, ours, open),
    ...compareFindings(stated.verdict, ours, open),
    ...compareContract(stated, contract),
    ...compareBeginnings(stated, contract),
  ];
  const findings = differences.map(([what, expected, actual]) => {
    const message = `states ${what} ${expected}, but it is ${actual}`;
    return toObjectFinding('verdict/differs', place, message, { expected, actual });
  });
  return [...findings, ...selfContradictions(place, stated), ...checkSealKeys(place, stated, walk, contract)];
}

const COMPARED_FIELDS = [
  'entries',
  'first_sequence',
  'previous_hash',
  'first_recorded_at',
  'last_recorded_at',
  'first_occurred_at',
  'last_occurred_at',
  'package_id',
] as const;

function* compareFacts(recorded: Verdict, ours: Verdict): Iterable<Difference> {
  for (const field of COMPARED_FIELDS)
    if (recorded[field] !== ours[field]) yield [field, String(recorded[field]), String(ours[field])];
  for (const field of ['head', 'activity', 'actions'] as const) {
    const [expected, actual] = [inWords(recorded[field]), inWords(ours[field])];
    if (expected !== actual) yield [field, expected, actual];
  }
  const [stated, found] = [recorded.entries_sha256, ours.entries_sha256];
  if (stated !== null && found !== null && stated !== found) yield ['entries_sha256', stated, found];
  if (recorded.digests_bind && !ours.digests_bind && ours.claims.content.state === 'proved')
    yield ['digests_bind', 'true', 'false'];
}

function inWords(value: unknown): string {
  return value === null ? 'not to be told' : JSON.stringify(value);
}

function* compareClaims(recorded: Verdict, ours: Verdict, open: OpenClaims): Iterable<Difference> {
  for (const name of CLAIMS.filter((one) => !open.byTrust.includes(one))) {
    const [{ state }, { state: stated }] = [ours.claims[name], recorded.claims[name]];
    const opposite = state !== stated && state !== 'unproved' && stated !== 'unproved';
    // A claim recorded as refuted that nothing refutes here is a contradiction, too.
    if (opposite || (stated === 'proved' && state === 'unproved' && !open.unproved.includes(name)))
      yield [`the claim ${name} as`, stated, state];
  }
}

/** Claims that rest on the entries alone. */
const BY_ENTRIES: readonly ClaimName[] = ['order', 'content', 'continuity', 'completeness'];

function* compareFindings(recorded: Verdict, ours: Verdict, { byTrust }: OpenClaims): Iterable<Difference> {
  for (const name of BY_ENTRIES.filter((one) => !byTrust.includes(one))) {
    // A reader who cannot judge a claim has no findings to compare.
    if (ours.claims[name].state === 'unproved' || recorded.claims[name].state === 'unproved') continue;
    const [expected, actual] = [placesOf(recorded, name), placesOf(ours, name)];
    if (expected !== actual) yield [`as findings about ${name}`, expected, actual];
  }
}

function placesOf({ findings }: Verdict, name: ClaimName): string {
  const errors = findings.filter(({ code, severity }) => severity === 'error' && code.startsWith(`${name}/`));
  const places = errors.map(({ code, sequence, from, to }) => {
    if (sequence !== undefined) return `${code} at ${sequence}`;
    return from === undefined ? code : `${code} at ${from} to ${to}`;
  });
  return places.join(', ') || 'none';
}

/** Compares the contract and the recipe by which the bundle was read. */
function* compareContract(stated: Verification, contract: Contract | null): Iterable<Difference> {
  if (contract === null) return;
  if (stated.contract !== contract.name) yield ['the contract', stated.contract, contract.name];
  if (stated.recipe !== contract.recipe) yield ['the recipe', stated.recipe ?? 'none', contract.recipe ?? 'none'];
}

/** Checks earlier runs from the first entry on: a stream begins at genesis in every export. */
function* compareBeginnings(
  { earlier, accepted_restarts }: Verification,
  contract: Contract | null,
): Iterable<Difference> {
  if (contract === null) return;
  for (const { run_id, entries } of [...earlier, ...accepted_restarts.flatMap((restart) => restart.earlier)])
    if (entries?.first_sequence === contract.firstSequence && entries.previous_hash !== contract.genesis)
      yield [`as the predecessor of the first entry in run ${run_id}`, entries.previous_hash, contract.genesis];
}

/**
 * Finds seals recorded as proved with other keys than the recorded ones.
 * @param walk over the package; null if it could not be read.
 */
function checkSealKeys(
  place: string,
  { verdict, seal_key_ids }: Verification,
  walk: Pick<WalkResult, 'seals'> | null,
  contract: Contract | null,
): ObjectFinding[] {
  if (walk === null || contract === null || verdict.claims.seal.state !== 'proved') return [];
  const { keyIds, unknown } = walk.seals;
  // A used key may be a key of digests.
  const named = [...(contract.hasKeyedDigests ? [] : keyIds), ...unknown.keyIds];
  const other = named.find((id) => !seal_key_ids.includes(id));
  if (other === undefined) return [];
  const message = `states seals as proved, but not by the key "${other}", which entries name`;
  return [toObjectFinding('verdict/differs', place, message)];
}

function selfContradictions(place: string, stated: Verification): ObjectFinding[] {
  const { verdict, required_claims: required, period, package_period: asked } = stated;
  const { claims, status } = verdict;
  const isEarned = verdict.entries > 0 && statusBy(claims, required) === status;
  const isRefuted = CLAIMS.some((name) => claims[name].state === 'refuted');
  const wrong: [boolean, string][] = [
    [isRefuted !== (status === 'refuted'), `states the status ${status}, which its own claims contradict`],
    [
      (status === 'verified' || status === 'collected') && !isEarned,
      `states the status ${status}, but lacks what that requires`,
    ],
    [status === 'empty' && verdict.entries > 0, `states the status empty, but ${verdict.entries} entries`],
    [verdict.findings_count < verdict.findings.length, 'lists more findings than it counts'],
    [claims.seal.state === 'proved' && stated.seal_key_ids.length === 0, 'states seals as proved, but names no key'],
    [
      claims.anchor.state === 'proved' && stated.timestamp_roots === null,
      'states the anchor as proved, but names no root',
    ],
    [
      !isSamePeriod(asked, period) && !isSamePeriod(asked, { from: null, to: null }),
      'states that the package was requested for another period',
    ],
  ];
  return wrong.filter(([is]) => is).map(([, message]) => toObjectFinding('verdict/differs', place, message));
}

interface Reader {
  contract: Contract;
  options: { sealKeys: SealKeys; acceptUnhashed?: readonly string[] };
  /** True if the bundle was altered, so that its forms are not compared. */
  isAltered: boolean;
  /** True if the bundle holds a PDF that is not read here. */
  withoutPdf: boolean;
}

/** Returns the claims that the reader of a bundle cannot judge as the exporter could. */
export function openClaims(
  stated: Verification,
  ours: Verdict,
  { contract, options, isAltered, withoutPdf }: Reader,
): OpenClaims {
  const byTrust: ClaimName[] = ['seal', 'anchor', ...(contract.hasKeyedDigests ? BY_KEYED_DIGESTS : [])];
  // The service's own verdict is compared with content and seal, so a difference in them changes agreement, too.
  const differs = (['content', 'seal'] as const).some(
    (name) => byTrust.includes(name) && stated.verdict.claims[name].state !== ours.claims[name].state,
  );
  // A PDF only refutes, so a reader who skips it cannot reproduce its refutations.
  const byPdf = withoutPdf && stated.verdict.claims.agreement.state === 'refuted';
  return {
    byTrust: differs || byPdf ? [...byTrust, 'agreement'] : byTrust,
    unproved: [
      ...(isAltered ? ['agreement' as const] : []),
      // A reader who lacks the keys of digests cannot compare as the exporter could.
      ...(stated.verdict.digests_bind && !ours.digests_bind ? ['continuity' as const] : []),
      ...(wasTrustedMore(stated, options) ? ['content' as const] : []),
    ],
  };
}

const BY_KEYED_DIGESTS: readonly ClaimName[] = ['content', 'continuity'];

/** Reports whether the exporter had keys that the reader lacks, or accepted unhashed parts that the reader does not. */
function wasTrustedMore({ seal_key_ids, accepted_unhashed }: Verification, options: Reader['options']): boolean {
  const { sealKeys, acceptUnhashed = [] } = options;
  return (
    seal_key_ids.some((id) => !sealKeys.has(id)) || accepted_unhashed.some((name) => !acceptUnhashed.includes(name))
  );
}
