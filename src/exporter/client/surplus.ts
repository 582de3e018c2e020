import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type buildConnector, Client, type Dispatcher } from 'undici';

/** The body went on where its framing said that it ends. */
export class SurplusError extends Error {
  constructor() {
    super('the answer is longer than its Content-Length');
  }
}

/**
 * A client that does not believe an answer's end until the bytes that came with it are read. undici 8 (client-h1.js)
 * ends the answer first; what follows it then breaks the connection as a parser's fault, or is pushed back into a
 * socket that it has destroyed when the answer said `Connection: close`.
 */
export class StrictClient extends Client {
  readonly #state: { surplus: boolean };

  constructor(origin: string | URL, { connect, ...options }: Client.Options) {
    const state = { surplus: false };
    super(origin, { ...options, connect: watchful(connect as buildConnector.connector, state) });
    this.#state = state;
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    // One request at a time, as there is no pipelining: the state is that of this one.
    this.#state.surplus = false;
    return super.dispatch(options, new PatientHandler(handler, this.#state));
  }
}

/** Notes a parser's fault, and what is pushed back into a socket that has no use for it any more. */
function watchful(connect: buildConnector.connector, state: { surplus: boolean }): buildConnector.connector {
  return (options, callback) =>
    connect(options, (...[error, socket]: Parameters<buildConnector.Callback>) => {
      if (error !== null || socket === null) {
        callback(error as Error, null);
        return;
      }
      watch(socket, state);
      callback(null, socket);
    });
}

function watch(socket: Socket | Duplex, state: { surplus: boolean }): void {
  const { unshift } = socket;
  socket.once('error', ({ code, message }: NodeJS.ErrnoException) => {
    // The latter is the SocketError for an answer to no request; a server that closes after its answer is in order.
    if (code?.startsWith('HPE_') || message === 'bad response') state.surplus = true;
  });
  socket.unshift = (chunk: Uint8Array, encoding) => {
    if (socket.destroyed && chunk.length > 0) state.surplus = true;
    unshift.call(socket, chunk, encoding);
  };
}

class PatientHandler implements Dispatcher.DispatchHandler {
  readonly #handler: Dispatcher.DispatchHandler;
  readonly #state: { surplus: boolean };

  constructor(handler: Dispatcher.DispatchHandler, state: { surplus: boolean }) {
    this.#handler = handler;
    this.#state = state;
  }

  onRequestStart(...values: Parameters<NonNullable<Dispatcher.DispatchHandler['onRequestStart']>>): void {
    this.#handler.onRequestStart?.(...values);
  }

  onRequestUpgrade(...values: Parameters<NonNullable<Dispatcher.DispatchHandler['onRequestUpgrade']>>): void {
    this.#handler.onRequestUpgrade?.(...values);
  }

  onResponseStart(...values: Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>): void {
    this.#handler.onResponseStart?.(...values);
  }

  onResponseData(...values: Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseData']>>): void {
    this.#handler.onResponseData?.(...values);
  }

  onResponseEnd(...[controller, trailers]: Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseEnd']>>): void {
    setImmediate(() => {
      if (this.#state.surplus) this.#handler.onResponseError?.(controller, new SurplusError());
      else this.#handler.onResponseEnd?.(controller, trailers);
    });
  }

  onResponseError(...values: Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseError']>>): void {
    this.#handler.onResponseError?.(...values);
  }
}
