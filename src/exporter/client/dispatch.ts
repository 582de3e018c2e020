import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { type LeastRate, RateWatch, SlowError } from './slow.ts';

export interface DispatchedAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Body;
}

/** Limits of one request and its answer. */
export interface DispatchLimits {
  /** Milliseconds until the head of the answer. Provisional answers (1xx) do not extend it. */
  headMs: number;
  /** Milliseconds until the last byte. */
  wholeMs: number;
  least: LeastRate;
}

/** Maximum number of provisional answers (RFC 9110 section 15.2) to one request. */
const MAX_PROVISIONAL = 32;

/**
 * Body that keeps everything that arrived. If the connection breaks, undici's own body discards unread bytes; this one
 * ends after them and reports the error as `fault`.
 */
export class Body extends Readable {
  readonly #controller: Dispatcher.DispatchController;
  readonly #watch: RateWatch;
  /** Error of an incomplete body; valid after the end. */
  fault: Error | null = null;
  #isComplete = false;
  #bytes = 0;
  #most = Number.POSITIVE_INFINITY;
  #tooLong: () => Error = () => new Error('too long');

  constructor(controller: Dispatcher.DispatchController, least: LeastRate) {
    super();
    this.#controller = controller;
    this.#watch = new RateWatch(least, (error) => this.#giveUp(error));
  }

  /** Ends the body with the error of `tooLong` if more bytes are sent, whatever they decode to. */
  limit(most: number, tooLong: () => Error): void {
    this.#most = most;
    this.#tooLong = tooLong;
    this.#checkLength();
  }

  /** Ends the body after the last byte, or after the last byte that will arrive. */
  complete(fault: Error | null): void {
    this.#watch.end();
    if (this.destroyed || this.#isComplete) return;
    this.#isComplete = true;
    this.fault = fault;
    this.push(null);
  }

  receive(chunk: Uint8Array): void {
    this.#watch.received(chunk.length);
    this.#bytes += chunk.length;
    if (this.destroyed || this.#isComplete || this.#checkLength()) return;
    if (this.push(chunk)) return;
    this.#watch.pause();
    this.#controller.pause();
  }

  override _read(): void {
    this.#watch.resume();
    this.#controller.resume();
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#watch.end();
    if (!this.#isComplete) this.#controller.abort(error ?? new Error('the rest of the answer is not needed'));
    callback(error);
  }

  #checkLength(): boolean {
    if (this.#bytes <= this.#most) return false;
    this.#giveUp(this.#tooLong());
    return true;
  }

  #giveUp(fault: Error): void {
    this.complete(fault);
    this.#controller.abort(fault);
  }
}

/** Sends one request. Resolves with the answer's head; rejects if none arrives in time or `signal` is aborted. */
export function dispatch(
  dispatcher: Dispatcher,
  options: Dispatcher.DispatchOptions,
  limits: DispatchLimits,
  signal: AbortSignal,
): Promise<DispatchedAnswer> {
  const handler = new AnswerHandler(limits, signal);
  dispatcher.dispatch(options, handler);
  return handler.answer;
}

class AnswerHandler implements Dispatcher.DispatchHandler {
  readonly answer: Promise<DispatchedAnswer>;
  readonly #limits: DispatchLimits;
  readonly #signal: AbortSignal;
  readonly #resolve: (answer: DispatchedAnswer) => void;
  readonly #reject: (reason: Error) => void;
  readonly #headTimer: NodeJS.Timeout;
  readonly #wholeTimer: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | null = null;
  #body: Body | null = null;
  #givenUp: Error | null = null;
  #provisional = 0;

  constructor(limits: DispatchLimits, signal: AbortSignal) {
    const { promise, resolve, reject } = Promise.withResolvers<DispatchedAnswer>();
    this.answer = promise;
    this.#limits = limits;
    this.#signal = signal;
    this.#resolve = resolve;
    this.#reject = reject;
    const { headMs, wholeMs } = limits;
    this.#headTimer = setTimeout(() => this.#giveUp(tooLate('no answer', headMs)), headMs);
    this.#wholeTimer = setTimeout(() => this.#giveUp(tooLate('no complete answer', wholeMs)), wholeMs);
    signal.addEventListener('abort', this.#abort, { once: true });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#signal.aborted) controller.abort(this.#signal.reason);
    else if (this.#givenUp !== null) controller.abort(this.#givenUp);
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (this.#givenUp !== null) return;
    if (status < 200) {
      if (++this.#provisional > MAX_PROVISIONAL)
        this.#giveUp(new Error(`more than ${MAX_PROVISIONAL} responses with a status below 200`));
      return;
    }
    clearTimeout(this.#headTimer);
    this.#body = new Body(controller, this.#limits.least);
    // An aborted body emits an error that no caller waits for.
    this.#body.on('error', () => {});
    this.#resolve({ status, headers, body: this.#body });
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    this.#body?.receive(chunk);
  }

  onResponseEnd(): void {
    this.#end(null);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#end(error);
  }

  readonly #abort = () => {
    this.#body?.destroy(this.#signal.reason);
    this.#giveUp(this.#signal.reason);
  };

  /** Ends the answer with the bytes that have arrived. */
  #giveUp(reason: Error): void {
    this.#givenUp ??= reason;
    this.#end(reason);
    this.#controller?.abort(reason);
  }

  #end(fault: Error | null): void {
    clearTimeout(this.#headTimer);
    clearTimeout(this.#wholeTimer);
    this.#signal.removeEventListener('abort', this.#abort);
    this.#body?.complete(fault);
    if (fault !== null) this.#reject(fault);
  }
}

function tooLate(what: string, milliseconds: number): SlowError {
  return new SlowError(`${what} within ${Math.ceil(milliseconds / 100) / 10} seconds`);
}
