import { isEvidenceError } from '../../core/errors.ts';
import { isOfFile } from '../archive/failure.ts';
import { type ObjectFinding, toObjectFinding, toUnreadable } from './object-finding.ts';

/** The value that a step of a verification found, and its findings. */
export interface Checked<T> {
  value: T;
  findings: ObjectFinding[];
}

/** A value without findings. */
export function checked<T>(value: T): Checked<T> {
  return { value, findings: [] };
}

/**
 * Reads an object; null, and a finding, where the object is not to be read: a link, a device, bytes that are no record,
 * or more of them than any has. One such object says nothing of the others.
 */
export async function readObject<T>(key: string, read: () => Promise<T>): Promise<Checked<T | null>> {
  try {
    return checked(await read());
  } catch (error) {
    if (!isEvidenceError(error, 'unreadable') && !isOfFile(error)) throw error;
    return { value: null, findings: [toUnreadable(key, error)] };
  }
}

/** Reads a file of a bundle; null, and a finding, for one that cannot be read. */
export async function readInBundle<T>(place: string, read: () => Promise<T>): Promise<Checked<T | null>> {
  try {
    return checked(await read());
  } catch (error) {
    if (!isEvidenceError(error)) throw error;
    const code = error.code === 'not-found' ? 'object/missing' : 'object/unreadable';
    return { value: null, findings: [toObjectFinding(code, place, error.message)] };
  }
}
