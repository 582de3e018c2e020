import { whereDefined } from '../../core/defined.ts';
import { isEvidenceError, messageOf } from '../../core/errors.ts';
import { isClosed, isOfFile } from '../archive/failure.ts';
import type { Finding, Severity } from '../model/finding.ts';
import type { SupplementFindingCode } from '../model/supplement-finding.ts';
import { type VerifiedOutcome, worstOf } from '../records/outcome.ts';

const FETCH_AGAIN =
  'Keep the output of `evidence verify --json`, touch nothing, and find out who can write to the store. A copy made elsewhere, or an earlier version of the object, may have what was archived.';
const WHO_WROTE = 'Find out who put it there. It is no evidence, and `evidence` did not store it.';
const WHOSE_KEY =
  'Get the public key from those who sign, not from the archive, and find out who wrote what it does not vouch for.';
const WHICH_KEY =
  'Ask those who sign whether this key is theirs. If it is, give it too: --public-key. A key that hands over to the next one with `evidence ledger hand-over` needs none of this.';

/** Next steps by code, for findings about stored objects. */
const NEXT_STEPS = {
  'object/missing': FETCH_AGAIN,
  'object/altered': FETCH_AGAIN,
  'object/unexpected': WHO_WROTE,
  'object/unreadable': FETCH_AGAIN,
  'object/closed': 'Give this user the right to read it, and verify again: nothing is said of it.',
  'object/covered': 'Find out who stored something over it. The first version is the object, and was verified.',
  'object/replaced': FETCH_AGAIN,
  'object/unlocked': 'Find out who can change locks, and have it locked again: evidence extend, evidence hold.',
  'record/differs': FETCH_AGAIN,
  'verdict/differs': FETCH_AGAIN,
  'ledger/gap': FETCH_AGAIN,
  'ledger/broken-link': FETCH_AGAIN,
  'ledger/contradicts': FETCH_AGAIN,
  'ledger/missing-entry': FETCH_AGAIN,
  'history/differs':
    'Compare the bundles of both runs: what the service says happened has changed, or one of them was altered.',
  'history/gap': 'Ask the operator of the service for these entries by number: no run of this archive has them.',
  'signature/missing': WHOSE_KEY,
  'signature/untrusted': WHOSE_KEY,
  'signature/unknown-key': WHICH_KEY,
  'signature/mismatch': WHOSE_KEY,
  'signature/differs': WHOSE_KEY,
  'stamp/refuted':
    'Check that the roots given are those of the authority; if they are, find out who put this time-stamp there.',
} as const;

const OF_BUNDLE = 'Get the bundle from the archive again, and compare its SHA-256 with the one in run.json.';

type OwnCode = keyof typeof NEXT_STEPS | `bundle/${string}`;
type ObjectFindingCode = OwnCode | SupplementFindingCode;

/**
 * Codes that leave an object open: the reader may not read it or has no key to judge it, so it is neither refuted nor
 * verified.
 */
const LEAVES_OPEN: ReadonlySet<ObjectFindingCode> = new Set(['object/closed', 'signature/unknown-key']);

export interface ObjectFinding extends Finding<ObjectFindingCode> {
  /** Key of the object; for a file in a bundle, followed by a colon and its path. */
  key: string;
}

export function toObjectFinding(
  code: OwnCode,
  key: string,
  message: string,
  values: { expected?: string | undefined; actual?: string | undefined } = {},
): ObjectFinding {
  const severity: Severity = LEAVES_OPEN.has(code) ? 'warning' : 'error';
  return { code, severity, key, message, ...whereDefined(values), next_step: nextStepOf(code) };
}

function nextStepOf(code: OwnCode): string {
  return code in NEXT_STEPS ? NEXT_STEPS[code as keyof typeof NEXT_STEPS] : OF_BUNDLE;
}

/** Returns the finding for an object that was not read: either it is damaged, or this user may not read it. */
export function toUnreadable(key: string, error: unknown): ObjectFinding {
  return toObjectFinding(isClosed(error) ? 'object/closed' : 'object/unreadable', key, messageOf(error));
}

/** Returns the worst outcome of findings and outcomes together. */
export function worstWith(findings: readonly ObjectFinding[], outcomes: readonly VerifiedOutcome[]): VerifiedOutcome {
  const found = findings.map(({ code }) => (LEAVES_OPEN.has(code) ? 'incomplete' : 'refuted'));
  return worstOf([...found, ...outcomes]);
}

/** Value that a step of a verification found, and its findings. */
export interface Checked<T> {
  value: T;
  findings: ObjectFinding[];
}

/** Returns a value without findings. */
export function checked<T>(value: T): Checked<T> {
  return { value, findings: [] };
}

/**
 * Reads an object; returns null and a finding if it cannot be read: a link, a device, or bytes that are no record or
 * too many. One such object does not stop the others.
 */
export async function readObject<T>(key: string, read: () => Promise<T>): Promise<Checked<T | null>> {
  try {
    return checked(await read());
  } catch (error) {
    if (!isEvidenceError(error, 'unreadable') && !isOfFile(error)) throw error;
    return { value: null, findings: [toUnreadable(key, error)] };
  }
}

/** Reads a file of a bundle; returns null and a finding if it cannot be read. */
export async function readInBundle<T>(place: string, read: () => Promise<T>): Promise<Checked<T | null>> {
  try {
    return checked(await read());
  } catch (error) {
    if (!isEvidenceError(error)) throw error;
    const code = error.code === 'not-found' ? 'object/missing' : 'object/unreadable';
    return { value: null, findings: [toObjectFinding(code, place, error.message)] };
  }
}
