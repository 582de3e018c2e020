import type { MessagePort } from 'node:worker_threads';
import { whereDefined } from '../defined.ts';
import { type ErrorCode, EvidenceError, isEvidenceError, messageOf, type NextStep } from '../errors.ts';

/** Answers a request with one value, or with several, one after the other. */
export type Handler<Request, Answer> = (
  request: Request,
  signal: AbortSignal,
) => Promise<Answer> | AsyncIterable<Answer>;

/** Message to a thread. */
export interface ThreadRequest<Request> {
  request: Request;
  /** True if the thread sends values unasked; otherwise, each but the first is requested by a message to `port`. */
  isAhead: boolean;
  /** Port for the answer. Closing it abandons the request. */
  port: MessagePort;
}

/** Message from a thread. The last message is not a value. */
export type ThreadReply<Answer> = { value: Answer } | { done: true } | { error: ErrorValue };

/** Error on its way between threads. Structured clone would drop its class and its members. */
export interface ErrorValue {
  /** Name of the class. */
  name: string;
  message: string;
  stack: string | undefined;
  /** Members that are strings or numbers: code, the path that the system refused. */
  members: Record<string, string | number>;
  /** Next step of an EvidenceError. */
  step: NextStep | undefined;
  cause: ErrorValue | undefined;
}

export function toErrorValue(error: unknown): ErrorValue {
  if (!(error instanceof Error)) return toErrorValue(new Error(messageOf(error)));
  const { name, message, stack, cause } = error;
  const plain = Object.entries(error).filter(([, value]) => typeof value === 'string' || typeof value === 'number');
  const members: ErrorValue['members'] = Object.fromEntries(plain);
  const step = isEvidenceError(error) ? error.step : undefined;
  return { name, message, stack, members, step, cause: cause === undefined ? undefined : toErrorValue(cause) };
}

export function toError({ name, message, stack, members, step, cause }: ErrorValue): Error {
  const details = whereDefined({ nextStep: step, cause: cause && toError(cause) });
  if (name === 'EvidenceError') return new EvidenceError(members['code'] as ErrorCode, message, details);
  return Object.assign(new Error(message, details), members, { name, stack });
}

/** Yields the values of an answer, whichever form the handler returns. */
export async function* answersOf<Request, Answer>(
  handler: Handler<Request, Answer>,
  request: Request,
  signal: AbortSignal,
): AsyncGenerator<Answer> {
  const answer = handler(request, signal);
  if ('then' in answer) yield await answer;
  else yield* answer;
}
