import { EvidenceError, messageOf, type NextStep } from '../../../core/errors.ts';
import { isOfFile } from '../../../verifier/archive/failure.ts';

const NEXT_STEPS: Record<string, NextStep> = {
  ENOSPC: { before: 'Free space on that disk, then' },
  EDQUOT: { before: 'Free space or raise the quota of this user, then' },
  EACCES: 'Give this user permission to write there, or name another archive with --archive.',
  EPERM: 'Give this user permission to write there, or name another archive with --archive.',
  EFBIG: { before: 'Raise the maximum file size for this user (ulimit -f), then' },
  EROFS: 'The disk is mounted read-only: mount it for writing, or name another archive with --archive.',
  ENOTDIR: 'A file is where the archive needs a folder. Find out what created it.',
  EMFILE: { before: 'Raise the maximum number of open files for this user (ulimit -n), then' },
};

const TO_READ = { before: 'Give this user permission to read all of the archive, then' };
const OF_READING: Record<string, NextStep> = {
  EACCES: TO_READ,
  EPERM: TO_READ,
};

/** Converts a failed lookup on a disk into an error with a next step. */
export function lookupFailure(error: unknown, doing: string): EvidenceError {
  return toFailure(error, doing, { ...NEXT_STEPS, ...OF_READING });
}

/** Converts a failed operation on a disk into an error with a next step. */
export function storeFailure(error: unknown, doing: string): EvidenceError {
  return toFailure(error, doing, NEXT_STEPS);
}

function toFailure(error: unknown, doing: string, nextSteps: Record<string, NextStep>): EvidenceError {
  if (error instanceof EvidenceError) return error;
  const { code = '', message } = error as NodeJS.ErrnoException;
  return new EvidenceError('archive', `could not ${doing}: ${message}`, {
    nextStep: nextSteps[code] ?? { before: 'Check that disk, then' },
    cause: error,
  });
}

/** Converts a failure to read one object, which says nothing about other objects. */
export function readFailure(error: unknown, key: string): EvidenceError {
  if (!isOfFile(error)) return lookupFailure(error, `read ${key} from the archive`);
  return new EvidenceError('unreadable', `${key} cannot be read: ${messageOf(error)}`, {
    nextStep: 'Give this user permission to read it; if that does not help, check the disk.',
    cause: error,
  });
}
