import { randomUUID } from 'node:crypto';
import { EvidenceError } from '../../../core/errors.ts';
import type { Json } from '../../../core/json/canonical.ts';
import type { Reader, Transaction } from '../../database/database.ts';
import type { Sends } from '../../jobs/delivery.ts';
import { type Deliver, Undeliverable } from '../../jobs/delivery.ts';
import type { Agent } from '../agent-rows.ts';
import type { SecurityEventName } from '../identity/security-event.ts';
import type { AgentTables } from '../tables.ts';
import type { KillDeps } from './deps.ts';
import type { Kill } from './kill-rows.ts';

/** In the outbox. */
const OUTBOX_KIND = 'agents/security-event';

interface SubscriberEvent {
  agent: Pick<Agent, 'agent_no' | 'agent_id'>;
  /** Null where no kill switch was used. */
  kill: Pick<Kill, 'kill_no' | 'kill_id'> | null;
  event: SecurityEventName;
}

/** Signs an event for each subscriber, and has it sent. @returns for how many. */
export async function notifySubscribers(
  transaction: Transaction,
  { issuer, outbox, clock }: Pick<KillDeps, 'issuer' | 'outbox' | 'clock'>,
  { agent, kill, event }: SubscriberEvent,
): Promise<number> {
  const tables = transaction.tables<AgentTables>();
  const subscribers = await tables
    .selectFrom('agent_subscribers')
    .selectAll()
    .where('removed_at', 'is', null)
    .execute();
  const at = clock();
  for (const { subscriber_no, audience } of subscribers) {
    const jti = randomUUID();
    const of = kill === null ? {} : { txn: kill.kill_id };
    const jws = await issuer.signSecurityEvent(transaction, {
      aud: audience,
      jti,
      ...of,
      agentId: agent.agent_id,
      event,
      at,
      detail: { agent_id: agent.agent_id },
    });
    const message_id = await outbox.add(transaction, OUTBOX_KIND, { jti } satisfies Json);
    const delivery = { jti, subscriber_no, agent_no: agent.agent_no, kill_no: kill?.kill_no ?? null, event, jws };
    const waiting = {
      message_id,
      state: 'pending',
      attempts: 0,
      made_at: at.toISOString(),
      delivered_at: null,
    } as const;
    await tables
      .insertInto('agent_set_deliveries')
      .values({ ...delivery, ...waiting })
      .execute();
  }
  return subscribers.length;
}

/** The delivery of the tokens of some kills. */
export function deliveriesOfKills(reader: Reader, killNos: readonly number[]) {
  return reader
    .tables<AgentTables>()
    .selectFrom('agent_set_deliveries')
    .innerJoin('agent_subscribers', 'agent_subscribers.subscriber_no', 'agent_set_deliveries.subscriber_no')
    .innerJoin('agents', 'agents.agent_no', 'agent_set_deliveries.agent_no')
    .select(['kill_no', 'subscriber_id', 'audience', 'agent_id', 'jti', 'event', 'made_at'])
    .select(['agent_set_deliveries.state', 'attempts', 'delivered_at'])
    .where('kill_no', 'in', killNos.length === 0 ? [-1] : [...killNos])
    .orderBy('delivery_no')
    .execute();
}

/** Delivers tokens by push, as RFC 8935 says. */
export function sendsSecurityEvents(deps: Pick<KillDeps, 'database' | 'dispatcher' | 'clock'>): Sends {
  const { clock } = deps;
  return new Map([
    [
      OUTBOX_KIND,
      {
        deliver: deliverWith(deps),
        async note(transaction, messageId, { status, attempts }) {
          const state = status === 'waiting' ? 'pending' : status;
          const delivered_at = state === 'delivered' ? clock().toISOString() : null;
          const deliveries = transaction.tables<AgentTables>().updateTable('agent_set_deliveries');
          await deliveries.set({ state, attempts, delivered_at }).where('message_id', '=', messageId).execute();
        },
      },
    ],
  ]);
}

function deliverWith({ database, dispatcher }: Pick<KillDeps, 'database' | 'dispatcher'>): Deliver {
  return async ({ message_id }) => {
    const deliveries = database.tables<AgentTables>().selectFrom('agent_set_deliveries');
    const { jws, url, removed_at } = await deliveries
      .innerJoin('agent_subscribers', 'agent_subscribers.subscriber_no', 'agent_set_deliveries.subscriber_no')
      .select(['jws', 'url', 'removed_at'])
      .where('message_id', '=', message_id)
      .executeTakeFirstOrThrow();
    if (removed_at !== null) throw new Undeliverable('the subscriber was removed');
    const headers = { 'content-type': 'application/secevent+jwt', accept: 'application/json' };
    try {
      const { status, body } = await dispatcher.send({ url: new URL(url), method: 'POST', headers, body: jws });
      if (status < 200 || status > 299) throw new Error(refusalOf(new URL(url).host, status, body));
    } catch (error) {
      if (error instanceof EvidenceError && error.code === 'refused') throw new Undeliverable(error.message);
      throw error;
    }
  };
}

const LONGEST_QUOTE = 200;

/** RFC 8935 section 2.3: `err` and `description`. */
function refusalOf(host: string, status: number, body: Buffer): string {
  const answered = `${host} answered with status ${status}`;
  try {
    const { err, description } = JSON.parse(body.toString()) as { err?: unknown; description?: unknown };
    const quoted = [err, description]
      .filter((each) => typeof each === 'string')
      .map((each) => each.slice(0, LONGEST_QUOTE));
    return quoted.length === 0 ? answered : `${answered}: ${quoted.join(': ')}`;
  } catch {
    return answered;
  }
}
