import { hash } from 'node:crypto';
import { type IncomingMessage, request as requestPlain, type Server } from 'node:http';
import { request as requestTls } from 'node:https';
import { awsTime } from '../../aws/iam.ts';
import { ALGORITHM, scopeText, signParts } from '../../aws/sigv4.ts';
import type { DecoySettings, FoundTrap } from '../decoy.ts';
import { localPlace } from '../place.ts';
import { keyOwner } from './identity.ts';

const TIMEOUT_MS = 5000;
const BODY = 'Action=GetCallerIdentity&Version=2011-06-15';

/** Asks who the owner of a trap's key is, as `aws sts get-caller-identity` does. @throws Error when nothing answers. */
export async function askIdentity(
  { server, settings, now }: { server: Server; settings: DecoySettings; now: Date },
  trap: FoundTrap,
  userAgent: string,
): Promise<void> {
  const { host, port } = localPlace(settings, server);
  const headers = { ...signed(trap, `${host}:${port}`, now), 'user-agent': userAgent };
  const send = settings.tls === null ? requestPlain : requestTls;
  await new Promise<void>((resolve, reject) => {
    const options = { host, port, method: 'POST', path: '/', headers, agent: false, rejectUnauthorized: false };
    const request = send({ ...options, timeout: TIMEOUT_MS }, (response: IncomingMessage) => {
      response.resume();
      response.on('end', () => resolve());
      response.on('error', reject);
    });
    request.on('timeout', () => request.destroy(new Error('it does not answer in time')));
    request.on('error', reject);
    request.end(BODY);
  });
}

function signed(trap: FoundTrap, host: string, now: Date): Record<string, string> {
  const time = awsTime(now);
  const scope = { date: time.slice(0, 8), region: String(trap.credential['region'] ?? 'us-east-1'), service: 'sts' };
  const headers = { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8', host, 'x-amz-date': time };
  const names = Object.keys(headers);
  const payload = hash('sha256', BODY, 'hex');
  const parts = { method: 'POST', path: '/', query: '', headers: Object.entries(headers), payload, time, scope };
  const { signature } = signParts({ ...parts, signedHeaders: names }, keyOwner(trap).secret ?? '', '/');
  const credential = `${trap.credential['access_key_id']}/${scopeText(scope)}`;
  const authorization = `${ALGORITHM} Credential=${credential}, SignedHeaders=${names.join(';')}, Signature=${signature}`;
  return { ...headers, authorization, 'content-length': String(BODY.length) };
}
