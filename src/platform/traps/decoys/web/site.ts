import { randomUUID } from 'node:crypto';
import type { Channel, Depth } from '../../enums.ts';
import type { FoundTrap } from '../decoy.ts';
import type { PageStatus, WebRequest } from './web-request.ts';

/** Value of `Server` in Debian 12, also shown on nginx's own pages. */
const SERVER = 'nginx/1.22.1';

/** Answer to a request. */
export interface WebAnswer {
  status: number;
  reason: string;
  type: string | null;
  /** Headers after `Connection`, where nginx puts headers of its upstream. */
  headers: readonly (readonly [name: string, value: string])[];
  lastModified?: string;
  body: string | Buffer;
}

/** Titles and headings of nginx's own pages. */
const PAGES = {
  400: ['400 Bad Request'],
  404: ['404 Not Found'],
  405: ['405 Not Allowed'],
  413: ['413 Request Entity Too Large'],
  414: ['414 Request-URI Too Large'],
  494: ['400 Bad Request', 'Request Header Or Cookie Too Large'],
  497: ['400 Bad Request', 'The plain HTTP request was sent to HTTPS port'],
  501: ['501 Not Implemented'],
  505: ['505 HTTP Version Not Supported'],
} as const satisfies Record<PageStatus, readonly [string, string?]>;

/** Statuses after which nginx closes the connection. */
const CLOSING: readonly PageStatus[] = [400, 413, 414, 494, 497, 501];

const PADDING = '<!-- a padding to disable MSIE and Chrome friendly error page -->\r\n'.repeat(6);

/** Returns one of nginx's own pages. */
export function nginxPage(status: PageStatus, request: WebRequest): WebAnswer {
  const [heading, more]: readonly [string, string?] = PAGES[status];
  const lines = [
    `<html>\r\n<head><title>${more === undefined ? heading : `400 ${more}`}</title></head>`,
    `<body>\r\n<center><h1>${heading}</h1></center>`,
    ...(more === undefined ? [] : [`<center>${more}</center>`]),
    `<hr><center>${SERVER}</center>\r\n</body>\r\n</html>\r\n`,
  ];
  const body = lines.join('\r\n') + (wantsPadding(request) ? PADDING : '');
  return { status: Number(heading.slice(0, 3)), reason: heading.slice(4), type: 'text/html', headers: [], body };
}

export function isClosing(status: PageStatus): boolean {
  return CLOSING.includes(status);
}

/** Returns the bytes of an answer as nginx writes it. @param date for the header. */
export function written(
  answer: WebAnswer,
  { method, version }: Pick<WebRequest, 'method' | 'version'>,
  { keepsAlive, date }: { keepsAlive: boolean; date: Date },
): Buffer {
  const body = Buffer.from(answer.body);
  if (version === '0.9') return body;
  const hasBody = answer.status !== 304;
  const lines = [
    `HTTP/1.1 ${answer.status} ${answer.reason}`,
    `Server: ${SERVER}`,
    `Date: ${date.toUTCString()}`,
    ...(answer.type === null ? [] : [`Content-Type: ${answer.type}`]),
    ...(hasBody ? [`Content-Length: ${body.length}`] : []),
    ...(answer.lastModified === undefined ? [] : [`Last-Modified: ${answer.lastModified}`]),
    `Connection: ${keepsAlive ? 'keep-alive' : 'close'}`,
    ...answer.headers.map(([name, value]) => `${name}: ${value}`),
  ];
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  return method === 'HEAD' || !hasBody ? head : Buffer.concat([head, body]);
}

/** Reports whether nginx pads an error page: old browsers replaced short ones with pages of their own. */
function wantsPadding({ headers, version }: WebRequest): boolean {
  const agent = headers.get('user-agent') ?? '';
  return version !== '0.9' && (agent.includes('Chrome/') || /^(?!.*Opera).*MSIE /.test(agent));
}

/** Answer of a service to a request, and the use that the request shows. */
export interface SiteOutcome {
  answer: WebAnswer;
  depth: Depth;
  action: string;
}

/** Service behind the web server. */
export interface Site {
  channel: Channel;
  /** Name of the service in detections. */
  service: string;
  takes(path: string): boolean;
  /** True if nginx passes requests on to the service, after the whole request has arrived. */
  passesOn: boolean;
  /** @param trap whose secret was presented; null for all other requests, which learn no reason. */
  answer(request: WebRequest, trap: FoundTrap | null): SiteOutcome;
}

const REASONS: Record<number, string> = {
  200: 'OK',
  202: 'Accepted',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
};

type Headers = WebAnswer['headers'];

export function siteJson(status: number, body: unknown, headers: Headers = []): WebAnswer {
  return answerOf(status, 'application/json', JSON.stringify(body), headers);
}

export function siteText(status: number, body: string, headers: Headers = []): WebAnswer {
  return answerOf(status, 'text/plain; charset=utf-8', body, headers);
}

function answerOf(status: number, type: string, body: string, more: Headers): WebAnswer {
  const headers: Headers = [...more, ['X-Request-Id', randomUUID()]];
  return { status, reason: REASONS[status] ?? '', type: body === '' ? null : type, headers, body };
}

/** Returns a part of a credential, or another text if the presented trap has no such part. */
export function partOf({ credential }: FoundTrap, name: string, otherwise: string): string {
  const value = credential[name];
  return typeof value === 'string' ? value : otherwise;
}
