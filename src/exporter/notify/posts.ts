import { randomUUID } from 'node:crypto';
import { type Dispatcher, request } from 'undici';
import { webhookHeaders } from '../../core/webhook-signature.ts';
import { type CommandEnd, isWell, type NotificationChannel } from './channel.ts';

/** Receiver of a webhook. Both members are secrets. */
export interface WebhookTarget {
  url: string;
  /** Secret in the `whsec_…` form of Standard Webhooks. */
  secret: string;
}

/** Sends one message when a command ends, signed as Standard Webhooks 1.0.0 specifies. */
export function webhook({ url, secret }: WebhookTarget, dispatcher: Dispatcher): NotificationChannel {
  return {
    name: 'webhook',
    end: (end, signal) => {
      const body = JSON.stringify(toMessage(end));
      const id = `msg_${randomUUID()}`;
      const headers = webhookHeaders(secret, { id, at: end.endedAt, body });
      return post({ url, headers, body }, { dispatcher, signal });
    },
  };
}

function toMessage(end: CommandEnd) {
  return {
    type: typeOf(end),
    timestamp: end.endedAt.toISOString(),
    data: {
      exit_code: end.exitCode,
      started_at: end.startedAt.toISOString(),
      ended_at: end.endedAt.toISOString(),
      summary: end.summary,
      runs: end.runs.map(({ runId, state, outcome, streams, failed, entries, bytes }) => ({
        run_id: runId,
        state,
        outcome,
        streams,
        failed,
        entries,
        bytes,
      })),
    },
  };
}

function typeOf(end: CommandEnd): string {
  if (isWell(end)) return 'evidence.export.completed';
  if (end.exitCode === 1) return 'evidence.export.refuted';
  return end.exitCode === 3 ? 'evidence.export.incomplete' : 'evidence.export.failed';
}

/**
 * Pings a dead man's switch in the format of healthchecks.io: `/start` first, then the plain address for success or the
 * address followed by the exit code. The switch raises the alarm if no ping arrives, whatever happened to the machine.
 * https://healthchecks.io/docs/http_api/
 *
 * @param url a secret.
 */
export function pings(url: string, dispatcher: Dispatcher): NotificationChannel {
  const rid = randomUUID();
  const address = (ending: string) => {
    const target = new URL(url);
    target.pathname = `${target.pathname.replace(/\/$/, '')}${ending}`;
    target.searchParams.set('rid', rid);
    return target.href;
  };
  return {
    name: 'ping',
    begin: (signal) => post({ url: address('/start'), body: '' }, { dispatcher, signal }),
    end: (end, signal) => {
      const ending = isWell(end) ? '' : `/${end.exitCode}`;
      return post({ url: address(ending), body: end.summary }, { dispatcher, signal });
    },
  };
}

/** Request of a notification. */
interface Posted {
  url: string;
  headers?: Record<string, string>;
  body: string;
}

/**
 * Sends one request, once. Does not follow redirects, and does not read the answer's body.
 * @throws Error whose message contains neither path nor query, because both may be secret.
 */
async function post(
  { url, headers = {}, body }: Posted,
  { dispatcher, signal }: { dispatcher: Dispatcher; signal: AbortSignal },
): Promise<void> {
  const { host } = new URL(url);
  let statusCode: number;
  try {
    const answer = await request(url, { dispatcher, method: 'POST', headers, body, signal });
    statusCode = answer.statusCode;
    answer.body.on('error', () => {}).destroy();
  } catch (error) {
    const { code, name } = error as NodeJS.ErrnoException;
    throw new Error(`${host} did not answer (${signal.aborted ? 'out of time' : (code ?? name)})`);
  }
  if (statusCode < 200 || statusCode > 299) throw new Error(`${host} answered ${statusCode}`);
}
