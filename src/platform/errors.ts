/** Reasons for which a service refuses a request. `http/problem.ts` knows the status of each. */
export type DomainCode =
  | 'agent_revoked'
  | 'agent_suspended'
  | 'clock_behind'
  | 'conflict'
  | 'forbidden'
  | 'idempotency_conflict'
  | 'invalid_cursor'
  | 'invalid_request'
  | 'key_changed'
  | 'key_ended'
  | 'key_expired'
  | 'key_revoked'
  | 'key_shown_before'
  | 'lines_needed'
  | 'link_used'
  | 'no_key'
  | 'not_found'
  | 'not_signed_in'
  | 'package_damaged'
  | 'part_out_of_order'
  | 'report_fork'
  | 'report_gap'
  | 'report_repeated'
  | 'report_signature'
  | 'root_differs'
  | 'snapshot_restored'
  | 'stream_damaged'
  | 'too_many_attempts'
  | 'unauthenticated'
  | 'weak_password';

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

/** Refuses a member of a request. @param why follows the name of the member and a colon. */
export function invalidField(field: string, why: string): DomainError {
  return new DomainError('invalid_request', why, {}, field);
}

/** Returns what an error says, with the name of the member that is refused. @param nameOf the name that people know. */
export function sayRefusal({ field, message }: DomainError, nameOf = (name: string) => name): string {
  return field === null ? message : `${nameOf(field)}: ${message}`;
}
