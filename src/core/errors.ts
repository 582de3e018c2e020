import { cutText, visibleText } from './foreign-text.ts';

/**
 * Every way in which this program can fail knowingly. `terminal/exit.ts` is the one place that turns a code into an
 * exit code; anything that is not an `EvidenceError` is a defect in the program.
 */
export type ErrorCode =
  /** A flag or argument makes no sense. */
  | 'usage'
  /** The configuration file or environment is wrong. */
  | 'config'
  /** The service speaks another contract than the one in use. */
  | 'contract'
  /** No answer within the time limits, or the connection broke too often. */
  | 'unreachable'
  /** 401 or 403 by the service. */
  | 'refused'
  /** 401 or 403 by the store of the archive. */
  | 'store-refused'
  /** The service answered, but not with what was asked for. */
  | 'service'
  /** A file, bundle, run or archive that was named does not exist. */
  | 'not-found'
  /** Bytes that are not what they should be: JSON, zip, record. */
  | 'unreadable'
  /** An object of this key exists in the archive with other content. */
  | 'conflict'
  /** The service does not go on with the chain of reports of this endpoint's agent. */
  | 'chain'
  /** The archive could not store or return an object. */
  | 'archive'
  /** The disk of the work directory refused something after the work had begun. */
  | 'work-directory'
  /** The output of a command cannot be written. */
  | 'output'
  /** The user or the system asked the program to stop. */
  | 'interrupted';

export interface ErrorDetails {
  /** The next command or action for the person reading, as a sentence. */
  nextStep?: string;
  cause?: unknown;
}

/** Code points. Messages are recorded as reasons, and text of others in them may have megabytes. */
const MAX_MESSAGE = 4000;

/**
 * The one error class. `message` says what happened and to what; `nextStep` what to do now. Neither ever contains a
 * secret, nor a lone surrogate, so both can be recorded.
 */
export class EvidenceError extends Error {
  readonly code: ErrorCode;
  readonly nextStep: string | undefined;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(cutText(message, MAX_MESSAGE), details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'EvidenceError';
    this.code = code;
    this.nextStep = details.nextStep === undefined ? undefined : visibleText(details.nextStep);
  }
}

/** True if `error` is an `EvidenceError`, of the given code if one is named. */
export function isEvidenceError(error: unknown, code?: ErrorCode): error is EvidenceError {
  return error instanceof EvidenceError && (code === undefined || error.code === code);
}

/** True if the operating system refused something: a file, a disk, a connection. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && typeof (error as NodeJS.ErrnoException).syscall === 'string';
}

/** The message of anything that was thrown. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

const SAME_COMMAND = /\b([Rr])un the same command again(?: to resume)?(?:: what is archived stays)?/;

/**
 * A next step with another command, where the same one would change nothing.
 * @param command what to do, as `run evidence doctor again`.
 */
export function insteadOfSameCommand(nextStep: string, command: string): string {
  return nextStep.replace(SAME_COMMAND, (_said, first: string) =>
    first === 'R' ? `${command.charAt(0).toUpperCase()}${command.slice(1)}` : command,
  );
}
