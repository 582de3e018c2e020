import { randomBytes } from 'node:crypto';
import { type Dispatcher, request } from 'undici';
import { EvidenceError, messageOf } from '../../core/errors.ts';
import { toImprint } from './digest.ts';
import { encodeRequest, readGrantedTime } from './exchange.ts';
import type { TimestampAuthority } from './types.ts';

const TIMEOUT_MS = 10_000;
const MAX_RESPONSE_BYTES = 64 * 1024;
const NONCE_BYTES = 8;

/**
 * An RFC 3161 authority behind HTTP (section 3.4).
 *
 * What it answers is checked to be the answer to what was asked: granted, the same digest, the same nonce. Its
 * signature is not: whether to trust it is for those who pin its root.
 *
 * @param timeoutMs for the whole exchange.
 */
export function remoteAuthority(url: string, timeoutMs = TIMEOUT_MS): TimestampAuthority {
  const address = URL.parse(url);
  if (address === null || !/^https?:$/.test(address.protocol)) {
    throw new EvidenceError('config', 'the URL of the time-stamping authority is not an http(s) URL', {
      nextStep: 'Give it as --tsa-url https://tsa.example/tsr.',
    });
  }
  // A user and password in the URL are for the authority's eyes only.
  const shown = `${address.origin}${address.pathname}`;
  return {
    kind: 'external',
    url: shown,
    stamp: async (digestHex) => {
      const imprint = toImprint(digestHex);
      const nonce = randomBytes(NONCE_BYTES);
      const token = await post(address, shown, await encodeRequest({ imprint, nonce }), timeoutMs);
      return { token, genTime: await readGrantedTime(shown, token, { imprint, nonce }) };
    },
  };
}

async function post(address: URL, shown: string, query: Buffer, timeoutMs: number): Promise<Buffer> {
  // One signal for all of it: a body that trickles must not hold a checkpoint up for longer than the rest may take.
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    return await readBody(shown, await send(address, query, signal));
  } catch (cause) {
    if (cause instanceof EvidenceError) throw cause;
    throw new EvidenceError(
      'unreachable',
      `the time-stamping authority ${shown} does not answer: ${messageOf(cause)}`,
      {
        nextStep: 'Check --tsa-url and the network; the checkpoint stays pending and is tried again.',
        cause,
      },
    );
  }
}

function send(address: URL, query: Buffer, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
  const headers: Record<string, string> = {
    'content-type': 'application/timestamp-query',
    accept: 'application/timestamp-reply',
  };
  if (address.username !== '') {
    const credentials = `${decodeURIComponent(address.username)}:${decodeURIComponent(address.password)}`;
    headers['authorization'] = `Basic ${Buffer.from(credentials).toString('base64')}`;
  }
  const target = `${address.origin}${address.pathname}${address.search}`;
  return request(target, { method: 'POST', headers, body: query, signal });
}

async function readBody(shown: string, response: Dispatcher.ResponseData): Promise<Buffer> {
  const type = String(response.headers['content-type'] ?? 'none');
  const isReply = /^application\/timestamp-reply\s*(;|$)/i.test(type);
  if (response.statusCode !== 200 || !isReply) {
    response.body.on('error', () => undefined).destroy();
    throw new EvidenceError(
      'service',
      `the time-stamping authority ${shown} answered ${response.statusCode} with content type ${type}, not a time-stamp`,
      { nextStep: 'Check that --tsa-url names an RFC 3161 authority.' },
    );
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response.body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_RESPONSE_BYTES) {
      throw new EvidenceError('service', `the time-stamping authority ${shown} answered with more than 64 KiB`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
