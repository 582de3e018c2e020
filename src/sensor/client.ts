// Uses node:http, because undici and fetch cost a fifth more memory.
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { EvidenceError, messageOf } from '../core/errors.ts';
import { isRetriedStatus, readRetryAfter } from '../core/retry.ts';

/** Time limits of a request in milliseconds. */
interface SensorLimits {
  connectMs: number;
  /**
   * Limit until the next bytes arrive. The last part of a report is answered only after all its lines were compared.
   */
  silenceMs: number;
  /** Total time of the request. */
  wholeMs: number;
}

const LIMITS: SensorLimits = { connectMs: 10_000, silenceMs: 120_000, wholeMs: 600_000 };
const MOST_ANSWER_BYTES = 1024 * 1024;
const ATTEMPTS = 5;
const FIRST_DELAY_MS = 1000;
/** Maximum wait in a round. If the service asks for more, it is asked again in the next round. */
const LONGEST_WAIT_MS = 10 * 60_000;
/** Code of a 403 answer if the token is valid but another key has signed. */
const WRONG_SIGNATURE = 'report_signature';

export interface SensorAnswer {
  status: number;
  /** Parsed JSON; undefined if the body is not JSON. */
  body: unknown;
  /** `code` and `detail` of a problem (RFC 9457); empty if there are none. */
  code: string;
  detail: string;
}

/** Client of the endpoint service with an endpoint's token. */
export interface SensorClient extends AsyncDisposable {
  /**
   * Sends a request until there is an answer without a temporary failure.
   * @param path in the service, such as `/sensor/settings`.
   * @param body JSON; without one, the request is a GET.
   * @throws EvidenceError `unreachable` or `service` if there was none, `refused` for 401 and 403.
   */
  ask(path: string, body?: string | Buffer): Promise<SensorAnswer>;
}

interface SensorClientOptions {
  /** Address of the service, such as `https://evidence.example.org/endpoints`. */
  url: string;
  token: string;
  /** Waits; tests replace the clock. */
  wait?: (milliseconds: number) => Promise<unknown>;
  limits?: SensorLimits;
}

/** @throws EvidenceError `config` for an invalid URL or token. */
export function connectSensor({ url, token, wait = sleep, limits = LIMITS }: SensorClientOptions): SensorClient {
  const base = baseOf(url);
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw new EvidenceError('config', 'the token of the endpoint is empty, or has characters in it that no token has', {
      nextStep: 'Give the token as the service showed it when the endpoint was enrolled.',
    });
  }
  const { Agent } = base.startsWith('https:') ? https : http;
  const connections = new Agent({ keepAlive: true, timeout: limits.connectMs });
  return {
    async ask(path, body) {
      const target = `${base}${path}`;
      for (let attempt = 1; ; attempt++) {
        const tried = await tryOnce({ target, token, connections, body, limits });
        if (tried.answer !== null) return accepted(target, tried.answer);
        const waitMs = tried.waitMs ?? FIRST_DELAY_MS * 2 ** (attempt - 1) * (0.5 + Math.random() / 2);
        if (attempt === ATTEMPTS || waitMs > LONGEST_WAIT_MS) throw tried.error;
        await wait(waitMs);
      }
    },
    [Symbol.asyncDispose]: async () => connections.destroy(),
  };
}

function baseOf(url: string): string {
  const base = URL.parse(url);
  if (base === null || !/^https?:$/.test(base.protocol) || base.username !== '' || base.password !== '') {
    throw new EvidenceError('config', 'the URL of the endpoint service is not an http(s) URL without a user in it', {
      nextStep: 'Give the service as --url https://evidence.example.org/endpoints.',
    });
  }
  return `${base.origin}${base.pathname.replace(/\/+$/, '')}`;
}

interface Asked {
  target: string;
  token: string;
  connections: http.Agent;
  body: string | Buffer | undefined;
  limits: SensorLimits;
}

type Tried = { answer: SensorAnswer } | { answer: null; error: EvidenceError; waitMs: number | null };

/** Makes one attempt. Returns no answer if another attempt may succeed. */
async function tryOnce(asked: Asked): Promise<Tried> {
  const { target } = asked;
  try {
    const response = await responseTo(asked);
    const { statusCode: status = 0, headers } = response;
    const answer = toAnswer(status, await textOf(response));
    if (!isRetriedStatus(status)) return { answer };
    const error = new EvidenceError('service', `${target} answered ${status}${said(answer)}`, { nextStep: LATER });
    return { answer: null, error, waitMs: readRetryAfter(headers['retry-after'] ?? null) };
  } catch (cause) {
    const message = `${target} cannot be reached: ${messageOf(cause)}`;
    return { answer: null, error: new EvidenceError('unreachable', message, { nextStep: LATER, cause }), waitMs: null };
  }
}

/**
 * Returns the head of the answer; the caller reads the body. Time limits cover connecting, silence and the whole
 * request.
 */
async function responseTo({ target, token, connections, body, limits }: Asked): Promise<IncomingMessage> {
  const request = (target.startsWith('https:') ? https : http).request(target, {
    method: body === undefined ? 'GET' : 'POST',
    agent: connections,
    timeout: limits.connectMs,
    signal: AbortSignal.timeout(limits.wholeMs),
    headers: {
      authorization: `Bearer ${token}`,
      accept: 'application/json',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
  });
  request.on('timeout', () => request.destroy(new Error('it does not answer in time')));
  request.on('socket', (socket) => {
    const allowAnswer = () => socket.setTimeout(limits.silenceMs);
    if (socket.connecting) socket.once(target.startsWith('https:') ? 'secureConnect' : 'connect', allowAnswer);
    else allowAnswer();
  });
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  request.on('response', resolve).on('error', reject).end(body);
  return promise;
}

const LATER = 'The signed report is kept; the next run sends it again.';

async function textOf(body: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MOST_ANSWER_BYTES) throw new Error(`an answer has more than ${MOST_ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function toAnswer(status: number, text: string): SensorAnswer {
  const body = parse(text);
  const { code, detail } = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
  return { status, body, code: typeof code === 'string' ? code : '', detail: typeof detail === 'string' ? detail : '' };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function accepted(target: string, answer: SensorAnswer): SensorAnswer {
  const { status, code } = answer;
  if ((status !== 401 && status !== 403) || code === WRONG_SIGNATURE) return answer;
  throw new EvidenceError('refused', `${target} refused the token of the endpoint: ${status}${said(answer)}`, {
    nextStep: 'Create a new token for this endpoint in the service, and replace this one with it.',
  });
}

/** Formats code and detail of a problem. */
export function said({ code, detail }: SensorAnswer): string {
  const words = [code, detail].filter((part) => part !== '').join(': ');
  return words === '' ? '' : ` (${words})`;
}
