import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';

export interface DispatchedAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Body;
}

/**
 * A body as far as it came. undici's own throws away what is not read yet when the connection breaks; this one ends
 * there, and says by `fault` that it did.
 */
export class Body extends Readable {
  readonly #controller: Dispatcher.DispatchController;
  /** Why it is not whole; to be looked at after its end. */
  fault: Error | null = null;
  #isComplete = false;

  constructor(controller: Dispatcher.DispatchController) {
    super();
    this.#controller = controller;
  }

  /** The last byte is here, or the last that there will be. */
  complete(fault: Error | null): void {
    if (this.destroyed) return;
    this.#isComplete = true;
    this.fault = fault;
    this.push(null);
  }

  receive(chunk: Uint8Array): void {
    if (!this.destroyed && !this.push(chunk)) this.#controller.pause();
  }

  override _read(): void {
    this.#controller.resume();
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    if (!this.#isComplete) this.#controller.abort(error ?? new Error('the rest of the answer is not wanted'));
    callback(error);
  }
}

/** Sends one request. Resolves with the answer's head, and rejects when none comes or `signal` is aborted. */
export function dispatch(
  dispatcher: Dispatcher,
  options: Dispatcher.DispatchOptions,
  signal: AbortSignal,
): Promise<DispatchedAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<DispatchedAnswer>();
  let current: Dispatcher.DispatchController | null = null;
  let body: Body | null = null;
  const abort = () => {
    if (body === null) current?.abort(signal.reason);
    else body.destroy(signal.reason);
    reject(signal.reason);
  };
  const end = (fault: Error | null) => {
    signal.removeEventListener('abort', abort);
    body?.complete(fault);
    if (fault !== null) reject(fault);
  };
  signal.addEventListener('abort', abort, { once: true });
  dispatcher.dispatch(options, {
    onRequestStart: (controller) => {
      current = controller;
      if (signal.aborted) controller.abort(signal.reason);
    },
    onResponseStart: (controller, status, headers) => {
      if (status < 200) return;
      body = new Body(controller);
      // One that is given up emits an error, which nobody waits for.
      body.on('error', () => {});
      resolve({ status, headers, body });
    },
    onResponseData: (_controller, chunk) => body?.receive(chunk),
    onResponseEnd: () => end(null),
    onResponseError: (_controller, error) => end(error),
  });
  return promise;
}
