import { type RequestOptions, request as requestPlain } from 'node:http';
import { request as requestTls } from 'node:https';
import type { FoundTrap } from '../decoy.ts';
import { partOf } from './site.ts';

/** The address of the decoy. */
export interface Listening {
  host: string;
  port: number;
  isPlain: boolean;
}

const TIMEOUT_MS = 5000;

/** Uses a trap as its client would. @throws Error when nothing answers as it should. */
export async function probeWeb(listening: Listening, trap: FoundTrap, userAgent: string): Promise<void> {
  const { path, method = 'GET', authorization, body } = requestFor(trap);
  const headers = {
    'user-agent': userAgent,
    ...(authorization === undefined ? {} : { authorization }),
    ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
  };
  const status = await send(listening, { path, method, headers }, body);
  if (status !== 200 && status !== 403) throw new Error(`The decoy answered ${status} to its own trap.`);
}

interface Probe {
  path: string;
  method?: string;
  authorization?: string;
  body?: string;
}

function requestFor(trap: FoundTrap): Probe {
  const part = (name: string) => partOf(trap, name, '');
  const bearer = `Bearer ${part('token')}`;
  const basic = `Basic ${Buffer.from(`${part('username')}:${part('password')}`).toString('base64')}`;
  switch (trap.type) {
    case 'npm_token':
      return { path: '/npm/-/whoami', authorization: bearer };
    case 'docker_registry':
      return { path: '/v2/', authorization: basic };
    case 'git_https':
      return { path: `/${part('repository')}.git/info/refs?service=git-upload-pack`, authorization: basic };
    case 'mcp_server':
      return {
        path: '/mcp',
        method: 'POST',
        authorization: bearer,
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
      };
    case 'web_bug':
      return { path: `/assets/${part('token')}.gif` };
    default:
      return { path: '/api/v1/', authorization: bearer };
  }
}

function send({ host, port, isPlain }: Listening, options: RequestOptions, body: string | undefined): Promise<number> {
  const to = { ...options, host: hostFor(host), port, timeout: TIMEOUT_MS, agent: false };
  return new Promise((resolve, reject) => {
    // It calls itself: no certificate has to say so.
    const request = isPlain ? requestPlain(to) : requestTls({ ...to, rejectUnauthorized: false });
    request.on('response', (response) => {
      response.resume();
      response.once('end', () => resolve(response.statusCode ?? 0));
    });
    request.on('timeout', () => request.destroy(new Error('The decoy does not answer.')));
    request.on('error', reject);
    request.end(body);
  });
}

/** A decoy that listens everywhere is reached at the loopback address. */
function hostFor(host: string): string {
  return host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
}
