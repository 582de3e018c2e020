import { createSecureContext } from 'node:tls';
import { type Dispatcher, EnvHttpProxyAgent, Pool } from 'undici';
import { EvidenceError } from '../../core/errors.ts';
import { StrictClient } from './surplus.ts';

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
