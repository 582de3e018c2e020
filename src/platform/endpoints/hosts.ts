import { randomUUID } from 'node:crypto';
import { issueKey, issueOnce } from '../accounts/api.ts';
import type { Transaction } from '../database/database.ts';
import { DomainError } from '../errors.ts';
import { newestFirst } from '../http/newest-first.ts';
import type { Actor } from '../http/principal.ts';
import { rowInserter } from '../rows.ts';
import type { EndpointDeps } from './deps.ts';
import { recordEndpointAct } from './entries.ts';
import { CHAIN_EVENT_TYPES, DEFAULT_ROOTS } from './enums.ts';
import { EventWriting } from './event-writing.ts';
import {
  boundTo,
  changeEndpoint,
  dueAfter,
  type Endpoint,
  findEndpoint,
  findEndpointInUse,
  newChain,
} from './host-rows.ts';
import { hostsToWire } from './host-wire.ts';
import { retireEndpoint } from './retiring.ts';
import { ENDPOINT_TABLES, type EndpointTables } from './tables.ts';
import type { Enrolment, HostQuery, WireHost } from './wire/hosts.ts';

/** Note shown after enrollment, so that it is not taken for more than it is. */
const NO_BASELINE =
  'Enrollment registers no baseline. Scans raise no events until you register a baseline, or approve a proposed scan as one.';

/** Endpoints, for routes and pages. */
export class Hosts {
  readonly #deps: EndpointDeps;

  constructor(deps: EndpointDeps) {
    this.#deps = deps;
  }

  /**
   * Creates an endpoint without a baseline, and the only API key that may report for it, which is shown once.
   * @throws DomainError `key_shown_before` for a repeated request.
   */
  async enroll(actor: Actor, input: Enrolment, idempotencyKey: string | undefined) {
    const { database, clock, log } = this.#deps;
    const now = clock();
    const endpointId = randomUUID();
    const roots = input.roots ?? [...DEFAULT_ROOTS];
    const { name, other_filesystems, scan_interval_seconds } = input;
    const once = { scope: 'endpoints/enroll', body: input, idempotencyKey, now };
    const issued = await issueOnce(database, once, async (transaction) => {
      await insertEndpoint(transaction, {
        endpoint_id: endpointId,
        name,
        roots: JSON.stringify(roots),
        other_filesystems: JSON.stringify(other_filesystems),
        scan_interval_seconds,
        enrolled_at: now.toISOString(),
        due_at: dueAfter(now, input),
        ...newChain(1),
      });
      const key = await this.#issueKey(transaction, actor, { endpoint_id: endpointId, name }, now);
      await recordEndpointAct(transaction, log, endpointId, {
        actor,
        action: 'endpoint.enrolled',
        of: ['endpoint', endpointId],
        more: { name, roots, other_filesystems, scan_interval_seconds, key_id: key.key.key_id },
      });
      return key;
    });
    return {
      endpoint_id: endpointId,
      name,
      roots,
      other_filesystems,
      scan_interval_seconds,
      endpoint_token: issued.text,
      baseline: null,
      message: NO_BASELINE,
    };
  }

  /** Lists endpoints, newest first; retired ones only on request. @throws DomainError `invalid_cursor`. */
  async list({ limit, cursor, status }: HostQuery) {
    const { database, clock } = this.#deps;
    const endpoints = database.tables<EndpointTables>().selectFrom('endpoints').selectAll();
    let hosts = endpoints.where('retired_at', status === 'retired' ? 'is not' : 'is', null);
    if (status === 'stale') hosts = hosts.where('stale_at', 'is not', null);
    if (status === 'waiting') hosts = hosts.where('stale_at', 'is', null).where('received_at', 'is', null);
    if (status === 'reporting') hosts = hosts.where('stale_at', 'is', null).where('received_at', 'is not', null);
    const numbered = { list: 'hosts', table: 'endpoints', number: 'endpoint_no' } as const;
    const { page, next_cursor } = await newestFirst(hosts, numbered, { limit, cursor });
    return { data: await hostsToWire(database, page, clock()), next_cursor };
  }

  /** @throws DomainError `not_found`. */
  async find(endpointId: string): Promise<WireHost> {
    const { database, clock } = this.#deps;
    const [host] = await hostsToWire(database, [await findEndpoint(database, endpointId)], clock());
    if (host === undefined) throw new Error('one endpoint became none');
    return host;
  }

  /** Labels an endpoint as isolated, which does not disconnect it. @throws DomainError `not_found`, `conflict`. */
  isolate(actor: Actor, endpointId: string, { reason }: { reason: string }): Promise<WireHost> {
    const act = { action: 'endpoint.isolated', more: { reason, effect: 'label_only' } };
    return this.#change(actor, endpointId, act, (endpoint, now) => {
      if (endpoint.isolated_at !== null)
        throw new DomainError('conflict', 'the endpoint is already labeled as isolated');
      return { isolated_at: now, isolated_by: actor.name, isolated_reason: reason };
    });
  }

  /** Removes the label. @throws DomainError `not_found`, `conflict`. */
  release(actor: Actor, endpointId: string, { reason }: { reason: string }): Promise<WireHost> {
    return this.#change(actor, endpointId, { action: 'endpoint.released', more: { reason } }, (endpoint) => {
      if (endpoint.isolated_at === null) throw new DomainError('conflict', 'the endpoint is not labeled as isolated');
      return { isolated_at: null, isolated_by: null, isolated_reason: null };
    });
  }

  /**
   * Lets an endpoint start a new chain of reports with a new key. Earlier reports are kept.
   * @throws DomainError `not_found`, `conflict`.
   */
  async restart(actor: Actor, endpointId: string, { reason }: { reason: string }): Promise<WireHost> {
    const { database } = this.#deps;
    await database.write(async (transaction) => {
      const endpoint = await findEndpointInUse(transaction, endpointId);
      const { sequence: last_sequence, report_sha256: last_report_sha256 } = endpoint;
      const chain = endpoint.chain + 1;
      await changeEndpoint(transaction, endpoint, newChain(chain));
      const events = await EventWriting.begin(transaction, this.#deps, endpoint, 'reports');
      const ended = CHAIN_EVENT_TYPES.filter((type) => type !== 'stale' && type !== 'clock_jump');
      events.resolveOfReports(ended, `${actor.name} started a new chain`);
      events.entries.add(actor, {
        action: 'endpoint.restarted',
        of: ['endpoint', endpointId],
        more: { reason, chain, last_sequence, last_report_sha256 },
      });
      await events.write();
    });
    return this.find(endpointId);
  }

  /**
   * Retires an endpoint: revokes its keys, stops expecting its reports, and ends comparisons. Its reports are kept, and
   * so are events about its files until they are acknowledged.
   * @throws DomainError `not_found`, `conflict`.
   */
  async retire(actor: Actor, endpointId: string, given: { reason: string }): Promise<WireHost> {
    await retireEndpoint(this.#deps, actor, endpointId, given);
    return this.find(endpointId);
  }

  async #change(
    actor: Actor,
    endpointId: string,
    act: { action: string; more: { [name: string]: string } },
    changeOf: (endpoint: Endpoint, now: string) => Partial<Endpoint>,
  ): Promise<WireHost> {
    const { database, clock, log } = this.#deps;
    await database.write(async (transaction) => {
      const endpoint = await findEndpointInUse(transaction, endpointId);
      await changeEndpoint(transaction, endpoint, changeOf(endpoint, clock().toISOString()));
      await recordEndpointAct(transaction, log, endpointId, { actor, of: ['endpoint', endpointId], ...act });
    });
    return this.find(endpointId);
  }

  /** Issues the key of this endpoint. The right to enroll endpoints includes this. */
  #issueKey(transaction: Transaction, { name: actor }: Actor, of: Pick<Endpoint, 'endpoint_id' | 'name'>, now: Date) {
    const { administration } = this.#deps;
    const scopes = ['endpoints:report'] as const;
    const input = { name: `sensor on ${of.name}`, scopes, expiresAt: null, boundTo: boundTo(of.endpoint_id) };
    return issueKey(transaction, input, { actor: { name: actor, scopes }, now, administration });
  }
}

const insertEndpoint = rowInserter(ENDPOINT_TABLES, 'endpoints');
