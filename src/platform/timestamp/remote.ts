import { randomBytes } from 'node:crypto';
import { EvidenceError, isEvidenceError, messageOf } from '../../core/errors.ts';
import { Dispatcher, type OutgoingAnswer, type OutgoingRequest } from '../outgoing/dispatcher.ts';
import { encodeRequest, type TimestampAuthority, type Trust, toImprint, verifyAnswer } from './exchange.ts';

const NONCE_BYTES = 8;

/**
 * Returns an RFC 3161 authority over HTTP (section 3.4), whose answers are verified.
 *
 * @param timeoutMs for the whole exchange; that of the dispatcher by default.
 */
export function remoteAuthority(url: string, trust: Trust, timeoutMs?: number): TimestampAuthority {
  const address = URL.parse(url);
  if (address === null || !/^https?:$/.test(address.protocol))
    throw new EvidenceError('config', 'the URL of the time-stamping authority is not an http(s) URL', {
      nextStep: 'Give it as --tsa-url https://tsa.example/tsr.',
    });
  // The configured URL allows its host.
  const dispatcher = new Dispatcher({ allowed: [address.host], ...(timeoutMs === undefined ? {} : { timeoutMs }) });
  // Omits user and password, which are for the authority only.
  const shown = `${address.origin}${address.pathname}`;
  return {
    kind: 'external',
    url: shown,
    stamp: async (digestHex) => {
      const imprint = toImprint(digestHex);
      const nonce = randomBytes(NONCE_BYTES);
      const token = await post(address, shown, await encodeRequest({ imprint, nonce }), dispatcher);
      return { token, genTime: verifyAnswer(shown, token, { imprint, nonce }, trust) };
    },
  };
}

async function post(address: URL, shown: string, query: Buffer, dispatcher: Dispatcher): Promise<Buffer> {
  const headers: Record<string, string> = {
    'content-type': 'application/timestamp-query',
    accept: 'application/timestamp-reply',
  };
  if (address.username !== '') {
    const credentials = `${decodeURIComponent(address.username)}:${decodeURIComponent(address.password)}`;
    headers['authorization'] = `Basic ${Buffer.from(credentials).toString('base64')}`;
  }
  const url = new URL(`${address.origin}${address.pathname}${address.search}`);
  return granted(shown, await sendTo(shown, { url, method: 'POST', headers, body: query }, dispatcher));
}

async function sendTo(shown: string, request: OutgoingRequest, dispatcher: Dispatcher): Promise<OutgoingAnswer> {
  try {
    return await dispatcher.send(request);
  } catch (cause) {
    if (isEvidenceError(cause) && cause.code === 'service')
      throw new EvidenceError('service', `the time-stamping authority ${shown} answered with more than 64 KiB`, {
        cause,
      });
    throw new EvidenceError(
      'unreachable',
      `the time-stamping authority ${shown} does not answer: ${messageOf(isEvidenceError(cause) ? (cause.cause ?? cause) : cause)}`,
      { nextStep: 'Check --tsa-url and the network; the checkpoint stays pending and is tried again.', cause },
    );
  }
}

function granted(shown: string, { status, headers, body }: OutgoingAnswer): Buffer {
  const type = String(headers['content-type'] ?? 'none');
  if (status === 200 && /^application\/timestamp-reply\s*(;|$)/i.test(type)) return body;
  throw new EvidenceError(
    'service',
    `the time-stamping authority ${shown} answered ${status} with content type ${type}, not a time-stamp`,
    { nextStep: 'Check that --tsa-url names an RFC 3161 authority.' },
  );
}
