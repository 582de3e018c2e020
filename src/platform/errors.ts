import type { MODULES } from './modules.ts';

type Keys<T> = T extends { refusals: infer Refusals } ? keyof Refusals : never;

/** Codes of refusals that services share. `http/problem.ts` knows the status of each. */
export type CommonCode =
  | 'conflict'
  | 'forbidden'
  | 'idempotency_conflict'
  | 'invalid_cursor'
  | 'invalid_request'
  | 'key_shown_before'
  | 'not_found'
  | 'unauthenticated';

/** Reasons for which a service refuses a request; it declares those of its own. */
export type DomainCode = CommonCode | Keys<(typeof MODULES)[number]>;

/** Thrown by a service that does not do what it was asked for. `code` is stable, the message is for people. */
export class DomainError extends Error {
  readonly code: DomainCode;
  /** More of it, for programs. */
  readonly members: Readonly<Record<string, unknown>>;
  /** Path of the member of the request that is refused: `options.form`; null if it is not one alone. */
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

/** Refuses a member of a request. @param why follows the name of the member and a colon. */
export function invalidField(field: string, why: string): DomainError {
  return new DomainError('invalid_request', why, {}, field);
}

/** Returns what an error says, with the name of the member that is refused. @param nameOf the name that people know. */
export function sayRefusal({ field, message }: DomainError, nameOf = (name: string) => name): string {
  return field === null ? message : `${nameOf(field)}: ${message}`;
}
