import { request as requestTls } from 'node:https';
import type { Server } from 'node:net';
import type { DecoySettings, FoundTrap } from '../decoy.ts';
import { localPlace } from '../place.ts';

const TIMEOUT_MS = 5000;

/** Asks what the server has, as every client does first. @throws Error when nothing answers. */
export async function askDiscovery(
  { server, settings }: { server: Server; settings: DecoySettings },
  { credential: { token, certificate, key } }: FoundTrap,
  userAgent: string,
): Promise<void> {
  const shown =
    typeof token === 'string'
      ? { headers: { 'user-agent': userAgent, authorization: `Bearer ${token}` } }
      : { headers: { 'user-agent': userAgent }, cert: String(certificate), key: String(key) };
  const options = { ...localPlace(settings, server), path: '/api', agent: false, rejectUnauthorized: false, ...shown };
  await new Promise<void>((resolve, reject) => {
    const request = requestTls({ ...options, timeout: TIMEOUT_MS }, (response) => {
      response.resume();
      response.on('end', () => resolve());
      response.on('error', reject);
    });
    request.on('timeout', () => request.destroy(new Error('it does not answer in time')));
    request.on('error', reject);
    request.end();
  });
}
