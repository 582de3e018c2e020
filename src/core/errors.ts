import { cutText, visibleText } from './foreign-text.ts';

/**
 * Codes of all failures that the program anticipates. Only `terminal/exit.ts` maps a code to an exit code. Anything
 * that is not an `EvidenceError` is a defect of the program.
 */
export const ERROR_CODES = [
  /** Nonsensical flag or argument. */
  'usage',
  /** Wrong configuration file or environment. */
  'config',
  /** Service with another contract than the one in use. */
  'contract',
  /** No answer within the time limits, or a connection that broke too often. */
  'unreachable',
  /** 401 or 403 from the service. */
  'refused',
  /** 401 or 403 from the archive's store. */
  'store-refused',
  /** Answer of the service other than requested. */
  'service',
  /** Named file, bundle, run or archive that does not exist. */
  'not-found',
  /** Bytes that are not in their expected form: JSON, zip, record. */
  'unreadable',
  /** Object with this key that exists in the archive with other content. */
  'conflict',
  /** Refusal of the service to continue the report chain of this endpoint's sensor. */
  'chain',
  /** Archive that could not store or return an object. */
  'archive',
  /** Work directory's disk that refused an operation after the work had begun. */
  'work-directory',
  /** Output of a command that cannot be written. */
  'output',
  /** Request of the user or the system to stop the program. */
  'interrupted',
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/** Next step that repeats the failed command. The command is filled in when the step is shown. */
export interface Retry {
  /** Text before the command, e.g. "Check the disk, then". */
  before?: string;
  /** Text after the command that applies only to the same command. */
  same?: string;
  /** Text after the command that applies to any command. */
  after?: string;
}

/** Next command or action for the user: a sentence, or the parts of one. */
export type NextStep = string | Retry;

export const RESUME: Retry = { same: ' to resume' };

export interface ErrorDetails {
  nextStep?: NextStep;
  cause?: unknown;
}

/** Maximum number of code points of a message: messages are recorded as reasons, and may include text from outside. */
const MAX_MESSAGE = 4000;

/**
 * Error of this program. `message` says what happened and to what, `nextStep` what to do now. Neither ever contains a
 * secret or a lone surrogate, so both can be recorded.
 */
export class EvidenceError extends Error {
  readonly code: ErrorCode;
  /** Sentence for the failed command. */
  readonly nextStep: string | undefined;
  /** Step as passed to the constructor, for callers that name another command. */
  readonly step: NextStep | undefined;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(cutText(message, MAX_MESSAGE), details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'EvidenceError';
    this.code = code;
    this.nextStep = details.nextStep === undefined ? undefined : sayNextStep(details.nextStep);
    this.step = details.nextStep;
  }
}

/** Reports whether `error` is an `EvidenceError`, with the given code if any. */
export function isEvidenceError(error: unknown, code?: ErrorCode): error is EvidenceError {
  return error instanceof EvidenceError && (code === undefined || error.code === code);
}

/** Reports whether the operating system refused an operation on a file, a disk or a connection. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && typeof (error as NodeJS.ErrnoException).syscall === 'string';
}

/** Returns the message of any thrown value. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

const SAME_COMMAND = 'run the same command again';

/**
 * Returns a next step as a sentence.
 * @param command replacement if repeating the command would not help, e.g. `run evidence doctor again`.
 */
export function sayNextStep(step: NextStep, command = SAME_COMMAND): string {
  if (typeof step === 'string') return visibleText(step);
  const { before, same = '', after = '' } = step;
  const begun = before === undefined ? `${command.charAt(0).toUpperCase()}${command.slice(1)}` : `${before} ${command}`;
  return visibleText(`${begun}${command === SAME_COMMAND ? same : ''}${after}.`);
}
