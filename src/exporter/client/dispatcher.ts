import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createSecureContext } from 'node:tls';
import { type buildConnector, Client, type Dispatcher, EnvHttpProxyAgent, Pool } from 'undici';
import { EvidenceError } from '../../core/errors.ts';

/** PEM texts: certificate authorities that replace the default ones, and a client certificate with its key. */
export interface Tls {
  ca?: string;
  cert?: string;
  key?: string;
}

/** Hosts that are never reached through a proxy, as in Go's net/http: the proxy's loopback is another machine's. */
const LOOPBACK = ['localhost', '127.0.0.1', '::1'];

/**
 * Opens connections through the proxies in HTTP_PROXY, HTTPS_PROXY and NO_PROXY: by CONNECT for https, so that a proxy
 * sees neither key nor content, and by forwarding for http.
 * @throws EvidenceError `config` for invalid certificates or proxies.
 */
export function openDispatcher(connectTimeout: number, tls: Tls): Dispatcher {
  try {
    createSecureContext(tls);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new EvidenceError('config', `source.tls: the certificates or the key cannot be used (${code})`, {
      nextStep: 'Each file must be PEM, and key_file must contain the key of cert_file.',
    });
  }
  const { no_proxy, NO_PROXY } = process.env;
  try {
    return new EnvHttpProxyAgent({
      // Uses HTTP/1.1 only: StrictClient watches its parser, and undici's HTTP/2 has no time limit between chunks of a
      // body.
      allowH2: false,
      noProxy: [no_proxy ?? NO_PROXY ?? '', ...LOOPBACK].join(','),
      connect: { timeout: connectTimeout, ...tls },
      // Needed for tunnels, because undici applies `connect` only to connections without a proxy.
      connectTimeout,
      requestTls: tls,
      factory: (origin, options) =>
        new Pool(origin, { ...options, factory: (address, more) => new StrictClient(address, more) }),
    });
  } catch (error) {
    throw new EvidenceError('config', 'HTTP_PROXY or HTTPS_PROXY is not a proxy URL', { cause: error });
  }
}

/** Error for a body that continues after the end that its framing states. */
export class SurplusError extends Error {
  constructor() {
    super('the answer is longer than its Content-Length');
  }
}

/**
 * Client that accepts an answer's end only after the bytes that arrived with it are read. undici 8 (client-h1.js) ends
 * the answer first. Surplus bytes then cause a parser error, or are pushed back into a socket that undici has already
 * destroyed because of `Connection: close`.
 */
class StrictClient extends Client {
  readonly #state: { surplus: boolean };

  constructor(origin: string | URL, { connect, ...options }: Client.Options) {
    const state = { surplus: false };
    super(origin, { ...options, connect: watchful(connect as buildConnector.connector, state) });
    this.#state = state;
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    // Requests are not pipelined, so the state belongs to the current request.
    this.#state.surplus = false;
    return super.dispatch(options, new PatientHandler(handler, this.#state));
  }
}

/** Records parser errors, and bytes that are pushed back into a destroyed socket. */
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
    // `bad response` is the SocketError for an answer to no request. A server that closes the connection after its
    // answer is not at fault.
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
