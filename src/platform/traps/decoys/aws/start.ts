import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { messageOf } from '../../../../core/errors.ts';
import { signForm } from '../../aws/sigv4.ts';
import type { Decoy, DecoyDeps, DecoyPlace, DecoySettings, FoundTrap } from '../decoy.ts';
import { LimitedConnections } from '../limits.ts';
import { listenAs, listeningPlace, localPlace, publicHostOf, remoteAddressOf } from '../place.ts';
import { answerRaw, closing, probeHttp, RAW_HTTP, type RawAnswer, serveRaw } from '../raw-http.ts';
import { errorAnswer } from './answers.ts';
import { keyOwner, presentedBy } from './credentials.ts';
import { answerStranger, depthOf, judgeTrap, operationOf } from './judge.ts';
import { headerOf, readAwsRequest } from './request.ts';

const LIMITS = {
  atOnce: 2000,
  ofOneAddress: 1000,
  firstByteMs: 20_000,
  idleMs: 60_000,
  wholeMs: 10 * 60_000,
  bytes: 64 * 2 ** 20,
};
const MAX_HEADER_BYTES = 16 * 2 ** 10;

/** Answers of S3 to requests that cannot be parsed. */
const BROKEN = { code: 'BadRequest', message: 'An error occurred when parsing the HTTP request.', status: 400 };
const TOO_LARGE = { code: 'RequestHeaderSectionTooLarge', status: 400 } as const;

/**
 * Imitates an AWS endpoint for an identity without permissions. The decoy uses TLS if the settings have a certificate,
 * and plain HTTP otherwise, because no AWS client would trust a self-issued certificate.
 */
export async function startAwsDecoy(settings: DecoySettings, _folder: string, deps: DecoyDeps): Promise<Decoy> {
  const options = { ...RAW_HTTP, maxHeaderSize: MAX_HEADER_BYTES };
  const { tls } = settings;
  const server: Server =
    tls === null ? createServer(options) : createTlsServer({ ...options, cert: tls.certificate, key: tls.key });
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    answerRequest(request, response, { deps, host: publicHostOf(settings) }).catch((error) => {
      deps.log.error({ decoy: settings.name, reason: messageOf(error) }, 'a decoy failed to answer');
      response.destroy();
    });
  });
  serveRaw(server, { broken: (code) => written(brokenAnswer(code, deps.clock())) });
  const connections = new LimitedConnections(server, LIMITS);
  await listenAs(server, settings);
  const place: DecoyPlace = {
    ...listeningPlace(settings, server, null),
    ...(tls === null ? { isPlain: true as const } : {}),
  };
  return {
    place,
    probe: (trap, userAgent) => askIdentity({ server, settings, now: deps.clock() }, trap, userAgent),
    close: () => connections.close(),
  };
}

async function answerRequest(
  message: IncomingMessage,
  response: ServerResponse,
  { deps, host }: { deps: DecoyDeps; host: string },
): Promise<void> {
  const now = deps.clock();
  const request = await readAwsRequest(message).catch(() => null);
  if (request === null) {
    message.socket.destroy();
    return;
  }
  const presented = presentedBy(request);
  const operation = operationOf(request, presented, { host, now });
  const marks = [{ kind: 'aws_access_key_id' as const, value: presented?.accessKeyId ?? '' }];
  const trap = presented === null ? null : await deps.find(marks);
  if (presented === null || trap === null) return answerRaw(response, answerStranger(operation, request, presented));
  const { authVerified, answer } = judgeTrap(operation, request, presented, trap);
  const { service, region } = presented.scope;
  await deps.record({
    trapNo: trap.trapNo,
    channel: 'aws_decoy',
    depth: depthOf(operation),
    eventTime: now.toISOString(),
    sourceEventId: null,
    sourceIp: remoteAddressOf(message.socket),
    userAgent: headerOf(request, 'user-agent'),
    action: operation.action,
    service,
    region,
    authVerified,
    request: request.raw,
  });
  answerRaw(response, answer);
}

function brokenAnswer(code: string, now: Date): RawAnswer {
  const asked = { protocol: 's3', service: 's3', region: '*', version: '', method: 'GET', contentType: '' } as const;
  const error =
    code === 'HPE_HEADER_OVERFLOW'
      ? {
          ...TOO_LARGE,
          message: 'Your request header section exceeds the maximum allowed size.',
          more: [['MaxSizeAllowed', '8192'] as const],
        }
      : BROKEN;
  return errorAnswer({ ...asked, isOld: true, now }, error);
}

function written({ status, reason, headers, body }: RawAnswer): string {
  const lines = closing(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
  return `HTTP/1.1 ${status} ${reason}\r\n${lines}\r\n${body}`;
}

const BODY = 'Action=GetCallerIdentity&Version=2011-06-15';

/**
 * Requests the identity of a trap's key, as `aws sts get-caller-identity` does. @throws Error if there is no answer.
 */
async function askIdentity(
  { server, settings, now }: { server: Server; settings: DecoySettings; now: Date },
  trap: FoundTrap,
  userAgent: string,
): Promise<void> {
  const at = localPlace(settings, server);
  const { access_key_id, region = 'us-east-1' } = trap.credential;
  const key = { accessKeyId: String(access_key_id), secret: keyOwner(trap).secret ?? '' };
  const to = { host: `${at.host}:${at.port}`, path: '/', region: String(region), service: 'sts' };
  const headers = { ...signForm(BODY, to, key, now), 'user-agent': userAgent, 'content-length': String(BODY.length) };
  const asked = { ...at, method: 'POST', path: '/', headers, body: BODY, isPlain: settings.tls === null };
  await probeHttp({ ...asked, late: 'it does not answer in time' });
}
