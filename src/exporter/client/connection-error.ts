import { EvidenceError, messageOf } from '../../core/errors.ts';
import type { Call } from './call.ts';
import { SlowError } from './slow.ts';

const NEVER_ARRIVED = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'UND_ERR_CONNECT_TIMEOUT']);
const NEXT_STEP = { before: 'Check that the service is running and reachable from here, then', same: ' to resume' };
const TRUST_STEP =
  'If this is the service, set source.tls.ca_file to the PEM file of the authority that signed its certificate.';

const PROXY_STEP = {
  before: 'HTTP_PROXY or HTTPS_PROXY names this proxy. Correct it, or add the service to NO_PROXY, then',
  same: ' to resume',
};
const SLOW_STEP = {
  same: ' to resume',
  after:
    '. If the service needs longer, raise source.timeouts; if it is slower, lower source.rate.least_bytes_per_second',
};
const PLAIN_STEP = 'If the service is intentionally unencrypted, use http:// in its address.';

/** Reports whether a server answered a TLS handshake in plain text. */
function isPlain(error: unknown): boolean {
  return codesOf(error).includes('ERR_SSL_WRONG_VERSION_NUMBER');
}

/** Returns host and port of the proxy whose connection failed; null if the server's own connection failed. */
function failedProxy(url: string, error: unknown): string | null {
  const errors = error instanceof AggregateError ? error.errors : [error];
  const target = new URL(url);
  for (const name of PROXY_VARIABLES) {
    const given = process.env[name] ?? '';
    if (!URL.canParse(given)) continue;
    const { hostname, host, port: stated, protocol } = new URL(given);
    const port = Number(stated || (protocol === 'https:' ? 443 : 80));
    const isOfProxy = (one: { port?: number; hostname?: string }) =>
      hostname !== target.hostname && (one.hostname === hostname || one.port === port);
    const isOfTarget = (one: { port?: number }) => one.port === Number(target.port || DEFAULT_PORTS[target.protocol]);
    if (errors.some((one) => isOfProxy(one) && !isOfTarget(one))) return host;
  }
  return null;
}

const PROXY_VARIABLES = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'];
const DEFAULT_PORTS: Record<string, number> = { 'http:': 80, 'https:': 443 };

/** Reports whether the connection was never established, so that the service cannot have received the request. */
export function neverArrived(error: unknown): boolean {
  return codesOf(error).some((code) => NEVER_ARRIVED.has(code)) || isUntrusted(error);
}

/** Reports whether the service's certificate is not trusted, which a retry does not change. */
export function isUntrusted(error: unknown): boolean {
  return codesOf(error).some((code) => /CERT|_TLS_CERT_/.test(code) && !/ALERT/.test(code));
}

/** Returns the error for a request whose answer is missing or incomplete. */
export function toConnectionError(call: Call, error: unknown): EvidenceError {
  const proxy = failedProxy(call.url, error);
  const through = proxy === null ? '' : ` (of the proxy ${proxy})`;
  const why = isPlain(error) ? 'it does not speak TLS (ERR_SSL_WRONG_VERSION_NUMBER)' : reasonOf(error);
  const nextStep =
    error instanceof SlowError
      ? SLOW_STEP
      : proxy !== null
        ? PROXY_STEP
        : isPlain(error)
          ? PLAIN_STEP
          : isUntrusted(error)
            ? TRUST_STEP
            : NEXT_STEP;
  return new EvidenceError('unreachable', `${call.method} ${call.url} failed: ${why}${through}`, {
    cause: error,
    nextStep,
  });
}

/** Describes a connection error, with its codes. */
export function reasonOf(error: unknown): string {
  const codes = codesOf(error).join(', ');
  const message = messageOf(error);
  if (message === '' || codes === '') return message + codes;
  return message.includes(codes) ? message : `${message} (${codes})`;
}

function codesOf(error: unknown): string[] {
  const errors = error instanceof AggregateError ? error.errors : [error];
  const codes = errors.map((one) => (one as NodeJS.ErrnoException).code).filter((code) => typeof code === 'string');
  return [...new Set(codes)];
}
