import { EvidenceError, isSystemError } from '../../core/errors.ts';

/** Reports whether the file itself cannot be read, as opposed to a disk that is full or busy. */
export function isOfFile(error: unknown): boolean {
  const isWriting = isSystemError(error) && error.syscall === 'write';
  return !isWriting && hasCode(error, 'EACCES', 'EPERM', 'EIO', 'EISDIR', 'ELOOP', 'ENXIO');
}

/** Reports whether this user lacks the permission to read, which refutes nothing. */
export function isClosed(error: unknown): boolean {
  const cause = error instanceof EvidenceError ? error.cause : error;
  return hasCode(cause, 'EACCES', 'EPERM');
}

export function hasCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && codes.includes((error as NodeJS.ErrnoException).code ?? '');
}
