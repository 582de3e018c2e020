import { randomUUID } from 'node:crypto';
import { sha256 } from '../../core/digest.ts';
import { canonicalize } from '../../core/json/canonical.ts';
import type { ReportHead } from '../../sensor/report/head.ts';
import type { EndpointLine } from '../../sensor/report/line.ts';
import type { Transaction } from '../database/database.ts';
import { DomainError, there } from '../errors.ts';
import type { PageQuery } from '../http/fields.ts';
import { newestFirst } from '../http/newest-first.ts';
import type { Actor } from '../http/principal.ts';
import { compareWith } from './accepting.ts';
import { baselineDifference } from './baseline-difference.ts';
import {
  type Baseline,
  baselineRow,
  baselineToWire,
  changeBaseline,
  findBaseline,
  insertBaseline,
  isBaselineAlike,
  refuseOwn,
} from './baseline-rows.ts';
import type { EndpointDeps } from './deps.ts';
import type { BaselineStatus } from './enums.ts';
import { EventWriting } from './event-writing.ts';
import { changeEndpoint, type Endpoint, endpointRow, findEndpointInUse, refuseRetired, scanRow } from './host-rows.ts';
import { storeLineSet } from './lines/line-sets.ts';
import { takePart, unstage } from './staging.ts';
import type { EndpointTables } from './tables.ts';
import type { Proposal, Registration, WireBaseline } from './wire/baselines.ts';

/** Baselines of endpoints, for routes and pages. */
export class Baselines {
  readonly #deps: EndpointDeps;

  constructor(deps: EndpointDeps) {
    this.#deps = deps;
  }

  /**
   * Receives a part of a baseline from a file or a tool. The baseline becomes active once it is complete; registering
   * the active baseline again changes nothing.
   * @throws DomainError `not_found`; those of `takePart`.
   */
  async register(
    actor: Actor,
    body: Registration,
  ): Promise<WireBaseline | { part: number; next_part: number; parts: number }> {
    const { database, clock } = this.#deps;
    const { endpoint_id, name, roots, complete, part, parts } = body;
    const { endpoint_no: endpointNo } = await findEndpointInUse(database, endpoint_id);
    const headSha256 = sha256(canonicalize({ name, roots, complete, parts }));
    const lines = body.lines as EndpointLine[];
    const given = { endpointNo, kind: 'baseline' as const, headSha256, part, parts, lines };
    const set = await takePart(database, clock(), given);
    if ('next_part' in set) return { part, parts, ...set };
    return this.#change(endpoint_id, async (transaction, endpoint) => {
      await unstage(transaction, given);
      const setNo = await storeLineSet(transaction, set);
      const active = await this.#activeOf(transaction, endpoint);
      const what = { name, set_no: setNo, roots: JSON.stringify(roots), complete: Number(complete) };
      if (active !== null && isBaselineAlike(active, what)) return active;
      const baseline = await insertBaseline(transaction, {
        ...this.#newBaseline(endpoint, actor),
        ...what,
        status: 'active',
        origin: 'registered',
      });
      await this.#activate(transaction, endpoint, baseline, { actor, action: 'baseline.registered', more: {} });
      return baseline;
    });
  }

  /**
   * Proposes the last scan of an endpoint as its baseline, which takes effect after approval.
   * @throws DomainError `not_found`; `conflict` if there is no scan.
   */
  propose(actor: Actor, endpointId: string, { name, reason }: Proposal): Promise<WireBaseline> {
    return this.#change(endpointId, async (transaction, endpoint) => {
      const { endpoint_no, last_scan_no } = endpoint;
      if (last_scan_no === null)
        throw new DomainError('conflict', 'the endpoint has not reported yet, so there is no scan to propose');
      const scan = await scanRow(transaction, last_scan_no);
      const proposals = transaction.tables<EndpointTables>().selectFrom('baselines').selectAll();
      const same = await proposals
        .where('endpoint_no', '=', endpoint_no)
        .where('status', '=', 'proposed')
        .where('scan_no', '=', last_scan_no)
        .where('name', '=', name)
        .executeTakeFirst();
      if (same !== undefined) return same;
      const { roots } = JSON.parse(scan.head) as ReportHead;
      const baseline = await insertBaseline(transaction, {
        ...this.#newBaseline(endpoint, actor),
        name,
        reason,
        status: 'proposed',
        origin: 'scan',
        scan_no: last_scan_no,
        set_no: scan.set_no,
        roots: JSON.stringify(roots),
        complete: scan.complete,
      });
      const events = await EventWriting.begin(transaction, this.#deps, endpoint, 'reports');
      const more = { reason, scan_id: scan.scan_id };
      await this.#note(transaction, events, baseline, { actor, action: 'baseline.proposed', more });
      await events.write();
      return baseline;
    });
  }

  /**
   * Makes a proposal the active baseline. If two or more people may approve, the proposer must not approve.
   * @throws DomainError `not_found`; `conflict` if the proposal is already decided; `forbidden`.
   */
  approve(actor: Actor, baselineId: string, { reason }: { reason: string }): Promise<WireBaseline> {
    return this.#decide(actor, baselineId, { status: 'active', reason }, async (transaction, endpoint, baseline) => {
      if ((await this.#deps.approvers(transaction)) > 1) refuseOwn(actor, baseline);
      const more = { reason, made_by: baseline.made_by };
      await this.#activate(transaction, endpoint, baseline, { actor, action: 'baseline.approved', more });
    });
  }

  /** @throws DomainError `not_found`; `conflict` if the proposal is already decided. */
  reject(actor: Actor, baselineId: string, { reason }: { reason: string }): Promise<WireBaseline> {
    return this.#decide(actor, baselineId, { status: 'rejected', reason }, async (transaction, endpoint, baseline) => {
      const events = await EventWriting.begin(transaction, this.#deps, endpoint, 'reports');
      await this.#note(transaction, events, baseline, { actor, action: 'baseline.rejected', more: { reason } });
      await events.write();
    });
  }

  /** Lists baselines, newest first. @throws DomainError `invalid_cursor`. */
  async list(query: PageQuery & { endpoint_id?: string | undefined; status?: BaselineStatus | undefined }) {
    const { limit, cursor, endpoint_id, status } = query;
    let baselines = this.#joined();
    if (endpoint_id !== undefined) baselines = baselines.where('endpoint_id', '=', endpoint_id);
    if (status !== undefined) baselines = baselines.where('status', '=', status);
    const numbered = { list: 'baselines', table: 'baselines', number: 'baseline_no' } as const;
    const { page, next_cursor } = await newestFirst(baselines, numbered, { limit, cursor });
    return { data: page.map((row) => baselineToWire(row)), next_cursor };
  }

  /** @throws DomainError `not_found`. */
  async find(baselineId: string): Promise<WireBaseline> {
    const row = await this.#joined().where('baseline_id', '=', baselineId).executeTakeFirst();
    return baselineToWire(there(row, 'no baseline has this ID'));
  }

  /** Lists differences from the replaced baseline. @throws DomainError `not_found`, `invalid_cursor`. */
  difference(baselineId: string, query: PageQuery) {
    return baselineDifference(this.#deps.database, baselineId, query);
  }

  #joined() {
    return this.#deps.database
      .tables<EndpointTables>()
      .selectFrom('baselines')
      .innerJoin('endpoints', 'endpoints.endpoint_no', 'baselines.endpoint_no')
      .innerJoin('line_sets', 'line_sets.set_no', 'baselines.set_no')
      .selectAll('baselines')
      .select(['endpoint_id', 'endpoints.name as endpoint_name', 'root_hash', 'line_count']);
  }

  async #change(
    endpointId: string,
    work: (transaction: Transaction, endpoint: Endpoint) => Promise<Baseline>,
  ): Promise<WireBaseline> {
    const { baseline_id } = await this.#deps.database.write(async (transaction) =>
      work(transaction, await findEndpointInUse(transaction, endpointId)),
    );
    return this.find(baseline_id);
  }

  async #decide(
    actor: Actor,
    baselineId: string,
    { status, reason }: { status: 'active' | 'rejected'; reason: string },
    work: (transaction: Transaction, endpoint: Endpoint, baseline: Baseline) => Promise<void>,
  ): Promise<WireBaseline> {
    const { database, clock } = this.#deps;
    await database.write(async (transaction) => {
      const baseline = await findBaseline(transaction, baselineId);
      const endpoint = await endpointRow(transaction, baseline.endpoint_no);
      refuseRetired(endpoint);
      if (baseline.status !== 'proposed')
        throw new DomainError('conflict', `the baseline is ${baseline.status}, not proposed`);
      const decided = { decided_at: clock().toISOString(), decided_by: actor.name, decided_reason: reason };
      await changeBaseline(transaction, baseline, { status, ...decided });
      await work(transaction, endpoint, baseline);
    });
    return this.find(baselineId);
  }

  async #activeOf(transaction: Transaction, { baseline_no }: Endpoint): Promise<Baseline | null> {
    return baseline_no === null ? null : await baselineRow(transaction, baseline_no);
  }

  /** Activates a baseline, and compares the last scan with it at once. */
  async #activate(transaction: Transaction, endpoint: Endpoint, baseline: Baseline, act: BaselineAct): Promise<void> {
    const { baseline_no } = baseline;
    const replaced = await this.#activeOf(transaction, endpoint);
    if (replaced !== null) await changeBaseline(transaction, replaced, { status: 'superseded' });
    await changeEndpoint(transaction, endpoint, { baseline_no });
    const events = await EventWriting.begin(transaction, this.#deps, { ...endpoint, baseline_no }, 'all');
    if (endpoint.last_scan_no !== null) {
      const { scan_no, set_no, complete } = await scanRow(transaction, endpoint.last_scan_no);
      await compareWith(transaction, events, { scan_no, set_no, complete, baseline_no });
    }
    const more = { ...act.more, replaces: replaced?.baseline_id ?? null };
    await this.#note(transaction, events, baseline, { ...act, more });
    await events.write();
  }

  async #note(
    transaction: Transaction,
    events: EventWriting,
    { baseline_id, version, name, set_no, complete }: Baseline,
    { actor, action, more }: BaselineAct,
  ): Promise<void> {
    const sets = transaction.tables<EndpointTables>().selectFrom('line_sets').select(['root_hash', 'line_count']);
    const set = await sets.where('set_no', '=', set_no).executeTakeFirstOrThrow();
    events.entries.add(actor, {
      action,
      of: ['baseline', baseline_id],
      more: { version, name, ...set, complete: complete === 1, ...more },
    });
  }

  #newBaseline({ endpoint_no }: Endpoint, actor: Actor) {
    const made_at = this.#deps.clock().toISOString();
    return { baseline_id: randomUUID(), endpoint_no, made_at, made_by: actor.name };
  }
}

interface BaselineAct {
  actor: Actor;
  action: string;
  more: { [name: string]: string | null };
}
