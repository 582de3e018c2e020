import { randomUUID } from 'node:crypto';
import type { Dispatcher } from 'undici';
import { webhookHeaders } from '../../core/webhook-signature.ts';
import { type CommandEnd, isWell, type NotificationChannel } from './channel.ts';
import { post } from './post.ts';

/** Receiver of a webhook. Both members are secrets. */
export interface WebhookTarget {
  url: string;
  /** `whsec_…`, of Standard Webhooks. */
  secret: string;
}

/** One message at the end of a command, signed as Standard Webhooks 1.0.0 says. */
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
