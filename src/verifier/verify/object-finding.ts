import { whereDefined } from '../../core/defined.ts';
import { isEvidenceError, messageOf } from '../../core/errors.ts';
import { isClosed, isOfFile } from '../archive/failure.ts';
import type { Finding, Severity } from '../model/finding.ts';
import type { SupplementFindingCode } from '../model/supplement-finding.ts';
import { type VerifiedOutcome, worstOf } from '../records/outcome.ts';

/** Findings that a verification of stored objects can make. */
type OwnCode =
  | 'object/missing'
  | 'object/altered'
  | 'object/unexpected'
  | 'object/unreadable'
  | 'object/closed'
  | 'object/covered'
  | 'object/replaced'
  | 'object/unlocked'
  | 'record/differs'
  | 'verdict/differs'
  | 'ledger/gap'
  | 'ledger/broken-link'
  | 'ledger/contradicts'
  | 'ledger/missing-entry'
  | 'history/differs'
  | 'history/gap'
  | 'signature/missing'
  | 'signature/untrusted'
  | 'signature/unknown-key'
  | 'signature/mismatch'
  | 'signature/differs'
  | 'stamp/refuted'
  | `bundle/${string}`;
export type ObjectFindingCode = OwnCode | SupplementFindingCode;

/**
 * Codes that leave an object open: the reader may not read it or has no key to judge it, so it is neither refuted nor
 * verified.
 */
const LEAVES_OPEN: ReadonlySet<ObjectFindingCode> = new Set(['object/closed', 'signature/unknown-key']);

export interface ObjectFinding extends Finding<ObjectFindingCode> {
  /** Key of the object; for a file in a bundle, followed by a colon and its path. */
  key: string;
}

type Stated = { expected?: string | undefined; actual?: string | undefined };

export function toObjectFinding(code: OwnCode, key: string, message: string, values: Stated = {}): ObjectFinding {
  const severity: Severity = LEAVES_OPEN.has(code) ? 'warning' : 'error';
  return { code, severity, key, message, ...whereDefined(values) };
}

/** Returns the finding for a record that contradicts the evidence or another record. */
export function recordDiffers(key: string, message: string, values?: Stated): ObjectFinding {
  return toObjectFinding('record/differs', key, message, values);
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
