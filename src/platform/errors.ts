/** Why a service does not do what it was asked for. `http/problem.ts` knows the status of each. */
export type DomainCode =
  | 'clock_behind'
  | 'forbidden'
  | 'idempotency_conflict'
  | 'invalid_cursor'
  | 'invalid_request'
  | 'key_ended'
  | 'key_expired'
  | 'key_revoked'
  | 'key_shown_before'
  | 'not_found'
  | 'stream_empty'
  | 'unauthenticated';

/** Thrown by a service that does not do what it was asked for. `code` is stable, the message is for people. */
export class DomainError extends Error {
  readonly code: DomainCode;

  constructor(code: DomainCode, message: string) {
    super(message);
    this.name = 'DomainError';
    this.code = code;
  }
}
