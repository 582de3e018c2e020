import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createSecureContext } from 'node:tls';
import { type buildConnector, Client, type Dispatcher, EnvHttpProxyAgent, Pool } from 'undici';
import { EvidenceError } from '../../core/errors.ts';

/** PEM texts: authorities to believe instead of the usual ones, and a certificate with its key to show. */
export interface Tls {
  ca?: string;
  cert?: string;
  key?: string;
}

/** Hosts that are reached through no proxy, as in Go's net/http: a proxy's own loopback is another. */
const LOOPBACK = ['localhost', '127.0.0.1', '::1'];

/**
 * Connections, through the proxies that HTTP_PROXY, HTTPS_PROXY and NO_PROXY name: by CONNECT for https, so that a
 * proxy sees neither key nor content, and forwarded for http.
 * @throws EvidenceError `config` for certificates and proxies that are none.
 */
export function openDispatcher(connectTimeout: number, tls: Tls): Dispatcher {
  try {
    createSecureContext(tls);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new EvidenceError('config', `source.tls: the certificates or the key cannot be used (${code})`, {
      nextStep: 'Each file has to be PEM, and key_file the key of cert_file.',
    });
  }
  const { no_proxy, NO_PROXY } = process.env;
  try {
    return new EnvHttpProxyAgent({
      // HTTP/1.1 alone: StrictClient watches its parser, and undici's HTTP/2 knows no limit between pieces of a body.
      allowH2: false,
      noProxy: [no_proxy ?? NO_PROXY ?? '', ...LOOPBACK].join(','),
      connect: { timeout: connectTimeout, ...tls },
      // For a tunnel: undici passes `connect` on to connections without a proxy only.
      connectTimeout,
      requestTls: tls,
      factory: (origin, options) =>
        new Pool(origin, { ...options, factory: (address, more) => new StrictClient(address, more) }),
    });
  } catch (error) {
    throw new EvidenceError('config', 'HTTP_PROXY or HTTPS_PROXY is not the URL of a proxy', { cause: error });
  }
}

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
class StrictClient extends Client {
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
