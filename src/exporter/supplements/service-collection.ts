import { EvidenceError } from '../../core/errors.ts';
import type { Json } from '../../core/json/canonical.ts';
import { slugOf } from '../../verifier/bundle/layout.ts';
import type { List } from '../../verifier/profile/list-description.ts';
import { valueAt } from '../../verifier/profile/path.ts';
import type { SupplementsDescription } from '../../verifier/profile/supplements.ts';
import {
  actionsFile,
  type OtherService,
  pageFile,
  type RecordKind,
  type SupplementService,
  statisticsFile,
  verificationFile,
} from '../../verifier/supplements/files.ts';
import type { Period } from '../client/period.ts';
import type { SupplementClient } from '../client/supplement.ts';
import type { Received } from './received.ts';

/** What a supplement is limited to. */
export interface SupplementScope {
  period: Period;
  /** Those that the run exports, by their ids. */
  streams: ReadonlySet<string>;
}

/** Takes the records of a kind, some at a time, as they arrive. */
export type TakeRecords = (kind: RecordKind, records: readonly Json[]) => void;

type FilteredList = List & { from_parameter: string | null; to_parameter: string | null };
type AgentsDescription = NonNullable<SupplementsDescription['agents']>;

/** Collects what one service shows. Its answers are kept as they arrive; what records they hold is told besides. */
export class ServiceCollection {
  readonly #client: SupplementClient;
  readonly #scope: SupplementScope;
  readonly #received: Received;
  readonly #take: TakeRecords;

  constructor(client: SupplementClient, scope: SupplementScope, received: Received, take: TakeRecords) {
    this.#client = client;
    this.#scope = scope;
    this.#received = received;
    this.#take = take;
  }

  /** @throws EvidenceError for the first answer that is not as it must be. */
  async collect(service: SupplementService, description: SupplementsDescription): Promise<void> {
    const { traps, endpoints, agents } = description;
    if (service === 'traps' && traps !== null) await this.#records('traps', 'detections', traps.detections);
    if (service === 'endpoints' && endpoints !== null) {
      await this.#records('endpoints', 'events', endpoints.events);
      if (endpoints.scans !== null) await this.#records('endpoints', 'scans', endpoints.scans);
    }
    if (service === 'agents' && agents !== null) await this.#agents(agents);
    const statistics = description[service]?.statistics ?? null;
    if (statistics !== null) await this.#document('statistics', statisticsFile(service), statistics);
  }

  #records(service: OtherService, kind: RecordKind, list: FilteredList): Promise<void> {
    return this.#list(
      { step: kind, fileOf: (number) => pageFile(service, kind, number) },
      { ...list, ids: {}, filter: this.#filterOf(list) },
      (items) => this.#take(kind, items),
    );
  }

  /** The public verification and the actions of every agent whose stream the run exports. */
  async #agents({ agents, verifications, actions }: AgentsDescription): Promise<void> {
    const inScope = new Map<string, string>();
    await this.#list(
      { step: 'agents', fileOf: (number) => pageFile('agents', 'agents', number) },
      { ...agents, ids: {}, filter: {} },
      (items) => {
        for (const agent of items) this.#addAgent(inScope, agent, agents);
      },
    );
    for (const [slug, agentId] of inScope) {
      const ids = { agent_id: agentId };
      const verification = await this.#document('verification', verificationFile(slug), verifications.path, ids);
      this.#take('verifications', [verification]);
      await this.#list(
        { step: 'actions', fileOf: (number) => actionsFile(slug, number) },
        { ...actions, ids, filter: this.#filterOf(actions) },
        (items) => this.#take('actions', items),
      );
    }
  }

  /** @param inScope agents by their slugs. */
  #addAgent(inScope: Map<string, string>, agent: Json, { id, stream_id, path }: AgentsDescription['agents']): void {
    const [agentId, streamId] = [valueAt(agent, id), valueAt(agent, stream_id)];
    if (typeof agentId !== 'string' || (typeof streamId !== 'string' && streamId != null))
      throw new EvidenceError('service', `${this.#client.url}${path} lists an agent without a text as its "${id}"`);
    if (typeof streamId !== 'string' || !this.#scope.streams.has(streamId)) return;
    const slug = slugOf(agentId);
    const other = inScope.get(slug);
    if (other !== undefined)
      throw new EvidenceError(
        'service',
        other === agentId
          ? `${this.#client.url}${path} lists the agent "${agentId}" twice`
          : `the agents "${other}" and "${agentId}" would have the same file`,
      );
    inScope.set(slug, agentId);
  }

  async #list(
    { step, fileOf }: { step: string; fileOf: (number: number) => string },
    { ids, filter, ...list }: List & { ids: Record<string, string>; filter: Record<string, string> },
    see: (items: Json[]) => void,
  ): Promise<void> {
    let number = 0;
    const keep = (body: Uint8Array) => this.#received.keep(fileOf(++number), body);
    for await (const { items, exchange } of this.#client.pages(list, ids, filter, keep)) {
      this.#received.log(step, fileOf(number), exchange);
      see(items);
    }
  }

  /** @param ids of a document that strangers may ask for, and that is asked for as they do. */
  async #document(step: string, file: string, path: string, ids?: Record<string, string>): Promise<Json> {
    const { value, text, exchange } = await this.#client.document(path, ids, ids !== undefined);
    this.#received.keep(file, Buffer.from(text));
    this.#received.log(step, file, exchange);
    return value as Json;
  }

  #filterOf({ from_parameter, to_parameter }: FilteredList): Record<string, string> {
    const { from, to } = this.#scope.period;
    return {
      ...(from_parameter === null || from === null ? {} : { [from_parameter]: from }),
      ...(to_parameter === null || to === null ? {} : { [to_parameter]: to }),
    };
  }
}
