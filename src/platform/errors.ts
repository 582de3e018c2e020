import type { MODULES } from './modules.ts';

type Keys<T> = T extends { refusals: infer Refusals } ? keyof Refusals : never;

/** Codes of refusals that services share. `http/problem.ts` has their statuses. */
export type CommonCode =
  | 'conflict'
  | 'forbidden'
  | 'idempotency_conflict'
  | 'invalid_cursor'
  | 'invalid_request'
  | 'key_shown_before'
  | 'not_found'
  | 'row_changed'
  | 'unauthenticated';

/** Codes of refusals; a service declares its own. */
export type DomainCode = CommonCode | Keys<(typeof MODULES)[number]>;

/** Error of a service that refuses a request. `code` is stable; the message is for people. */
export class DomainError extends Error {
  readonly code: DomainCode;
  /** Further members for programs. */
  readonly members: Readonly<Record<string, unknown>>;
  /** Path of the refused member of the request, such as `options.form`; null if it is not a single one. */
  readonly field: string | null;

  constructor(
    code: DomainCode,
    message: string,
    members: Readonly<Record<string, unknown>> = {},
    field: string | null = null,
  ) {
    super(message);
    this.name = 'DomainError';
    this.code = code;
    this.members = members;
    this.field = field;
  }
}

/** Returns what was found. @throws DomainError `not_found`. */
export function there<T>(found: T | null | undefined, missing: string): T {
  if (found === null || found === undefined) throw new DomainError('not_found', missing);
  return found;
}

/** Returns the refusal of a member of a request. @param why follows the name of the member and a colon. */
export function invalidField(field: string, why: string): DomainError {
  return new DomainError('invalid_request', why, {}, field);
}

/**
 * Returns the message of an error, with the name of the refused member. @param nameOf returns the name that people
 * know.
 */
export function sayRefusal({ field, message }: DomainError, nameOf = (name: string) => name): string {
  return field === null ? message : `${nameOf(field)}: ${message}`;
}
