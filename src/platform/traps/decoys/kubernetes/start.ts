import { ServerResponse } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { messageOf } from '../../../../core/errors.ts';
import type { Decoy, DecoyDeps, DecoySettings, FoundTrap } from '../decoy.ts';
import { LimitedConnections } from '../limits.ts';
import { listenAs, listeningPlace, localPlace, remoteAddressOf } from '../place.ts';
import { answerRaw, probeHttp, type RawAnswer, rawHead, writtenOld } from '../raw-http.ts';
import { ANONYMOUS, answerKube, type KubeUser, unauthorized } from './answers.ts';
import { type Cluster, openCluster } from './cluster.ts';
import { type KubeIncoming, type KubeOutgoing, kubeListener } from './listener.ts';
import { actionOf, isSelfReview, kubeRequest } from './request.ts';

const LIMITS = {
  atOnce: 2000,
  ofOneAddress: 1000,
  firstByteMs: 10_000,
  idleMs: 90_000,
  wholeMs: 30 * 60_000,
  bytes: 16 * 2 ** 20,
};
const KEPT_BYTES = 64 * 2 ** 10;
const MOST_BYTES = 3 * 2 ** 20;

/** Imitates the API server of a cluster for an authenticated identity without permissions. */
export async function startKubernetesDecoy(settings: DecoySettings, folder: string, deps: DecoyDeps): Promise<Decoy> {
  const cluster = await openCluster(settings, folder, deps.clock);
  const server = kubeListener(cluster, (request, response) => {
    answerRequest(request, response, { cluster, deps }).catch((error) => {
      deps.log.error({ decoy: settings.name, reason: messageOf(error) }, 'a decoy failed to answer');
      request.socket.destroy();
    });
  });
  const connections = new LimitedConnections(server, LIMITS);
  await listenAs(server, settings);
  return {
    place: { ...listeningPlace(settings, server, cluster.tls.authority), issueClient: cluster.issueClient },
    probe: (trap, userAgent) => askDiscovery(localPlace(settings, server), trap, userAgent),
    close: () => connections.close(),
  };
}

async function answerRequest(
  request: KubeIncoming,
  response: KubeOutgoing,
  { cluster, deps }: { cluster: Cluster; deps: DecoyDeps },
): Promise<void> {
  const { method = 'GET', url = '/', headers } = request;
  const body = await bodyOf(request);
  const now = deps.clock();
  const userAgent = headers['user-agent'] ?? null;
  const asked = kubeRequest(method, url);
  const isPretty = /^(curl|Wget|Mozilla)/.test(userAgent ?? '') || /[?&]pretty(=(1|true))?(&|$)/.test(url);
  const presented = presentedBy(request);
  const trap = presented === null ? null : await deps.find([presented]);
  const shown = { ids: cluster.ids, now, isPretty, isKnown: presented === null || trap !== null };
  if (presented !== null && trap === null) return send(request, response, unauthorized(shown));
  if (trap !== null)
    await deps.record({
      trapNo: trap.trapNo,
      channel: 'kubernetes',
      eventTime: now.toISOString(),
      sourceEventId: null,
      depth: asked.resource === null || isSelfReview(asked) ? 'validated' : 'used',
      sourceIp: remoteAddressOf(request.socket),
      userAgent,
      action: actionOf(asked),
      // A client certificate is presented with a proof of its key; a token is the secret itself.
      service: 'kubernetes',
      region: null,
      authVerified: true,
      // A token in the request may stay, because only the digest is stored.
      request: rawHead(request) + body,
    });
  const user = trap === null ? ANONYMOUS : userOf(trap);
  send(
    request,
    response,
    answerKube(asked, { user, shown, body, accept: headers.accept ?? '', host: hostOf(request) }),
  );
}

/** Returns the identity that a request claims; null if there is none. */
function presentedBy({ headers, socket }: KubeIncoming) {
  const certificate = (socket as TLSSocket).getPeerCertificate();
  // Node returns an object without members if there is no client certificate.
  if (certificate?.fingerprint256 !== undefined)
    return { kind: 'client_certificate', value: certificate.fingerprint256 } as const;
  const token = /^bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
  return token === undefined ? null : ({ kind: 'bearer', value: token } as const);
}

function userOf({ credential: { user, groups } }: FoundTrap): KubeUser {
  const named = Array.isArray(groups) ? groups.map(String) : ['system:authenticated'];
  return { name: typeof user === 'string' ? user : 'system:serviceaccount:default:default', groups: named };
}

const hostOf = ({ headers }: KubeIncoming) => String(headers[':authority'] ?? headers.host ?? '');

async function bodyOf(request: KubeIncoming): Promise<string> {
  const kept: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    if (bytes < KEPT_BYTES) kept.push(chunk.subarray(0, KEPT_BYTES - bytes));
    bytes += chunk.length;
    if (bytes > MOST_BYTES) throw new Error('a body is too large');
  }
  return Buffer.concat(kept).toString('latin1');
}

function send({ httpVersion, socket }: KubeIncoming, response: KubeOutgoing, answer: RawAnswer): void {
  // Go answers in the HTTP version of the request, and Node in its own.
  if (httpVersion === '1.0') {
    socket.end(writtenOld(answer));
    return;
  }
  if (response instanceof ServerResponse) {
    answerRaw(response, answer);
    return;
  }
  response.sendDate = false;
  response.writeHead(
    answer.status,
    Object.fromEntries(answer.headers.map(([name, value]) => [name.toLowerCase(), value])),
  );
  response.end(answer.body);
}

/** Requests the discovery documents, as every client does first. @throws Error if there is no answer. */
async function askDiscovery(
  at: { host: string; port: number },
  { credential: { token, certificate, key } }: FoundTrap,
  userAgent: string,
): Promise<void> {
  const shown =
    typeof token === 'string'
      ? { headers: { 'user-agent': userAgent, authorization: `Bearer ${token}` } }
      : { headers: { 'user-agent': userAgent }, cert: String(certificate), key: String(key) };
  await probeHttp({ ...at, ...shown, path: '/api', isPlain: false, late: 'it does not answer in time' });
}
