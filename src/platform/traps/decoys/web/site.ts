import { randomUUID } from 'node:crypto';
import type { Channel, Depth } from '../../enums.ts';
import type { FoundTrap } from '../decoy.ts';
import type { PageStatus, WebRequest } from './web-request.ts';

/** The value of `Server`, also under nginx's pages: that of Debian 12. */
const SERVER = 'nginx/1.22.1';

/** An answer. */
export interface WebAnswer {
  status: number;
  reason: string;
  type: string | null;
  /** Headers after `Connection`, where nginx puts those of its upstream. */
  headers: readonly (readonly [name: string, value: string])[];
  lastModified?: string;
  body: string | Buffer;
}

/** Title and heading of nginx's own pages. */
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

/** After these nginx closes the connection. */
const CLOSING: readonly PageStatus[] = [400, 413, 414, 494, 497, 501];

const PADDING = '<!-- a padding to disable MSIE and Chrome friendly error page -->\r\n'.repeat(6);

/** A page of nginx itself. */
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

/** An answer as nginx writes it. @param date for the header. */
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

/** Browsers of old showed pages of their own in the place of short ones. */
function wantsPadding({ headers, version }: WebRequest): boolean {
  const agent = headers.get('user-agent') ?? '';
  return version !== '0.9' && (agent.includes('Chrome/') || /^(?!.*Opera).*MSIE /.test(agent));
}

/** A service's answer to a request, and the use that it showed. */
export interface SiteOutcome {
  answer: WebAnswer;
  depth: Depth;
  action: string;
}

/** One service behind the web server. */
export interface Site {
  channel: Channel;
  /** The service's name in detections. */
  service: string;
  takes(path: string): boolean;
  /** It stands behind nginx, and is asked once the whole request came. */
  passesOn: boolean;
  /** @param trap whose secret was shown; null for everybody else, who learns nothing of why. */
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

/** A part of a credential; another text where the trap that is shown has none. */
export function partOf({ credential }: FoundTrap, name: string, otherwise: string): string {
  const value = credential[name];
  return typeof value === 'string' ? value : otherwise;
}
