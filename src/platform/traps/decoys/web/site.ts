import { randomUUID } from 'node:crypto';
import type { Channel, Depth } from '../../enums.ts';
import type { FoundTrap } from '../decoy.ts';
import type { WebAnswer } from './pages.ts';
import type { WebRequest } from './web-request.ts';

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
