import { EvidenceError } from '../../core/errors.ts';
import { slugOf } from '../../verifier/bundle/layout.ts';
import type { List } from '../../verifier/profile/list-description.ts';
import {
  actionsFile,
  type OtherService,
  pageFile,
  type RecordKind,
  type SupplementService,
  statisticsFile,
  verificationFile,
} from '../../verifier/supplements/files.ts';
import { readAgents } from '../../verifier/supplements/reading.ts';
import type { Period } from '../client/period.ts';
import type { SupplementClient } from '../client/supplement.ts';
import type { ReceivedAnswers } from './received.ts';
import type { SupplementSource } from './source.ts';

/** The limits of a supplement. */
export interface SupplementScope {
  period: Period;
  /** Those that the run exports, by their ids. */
  streams: ReadonlySet<string>;
}

type Contract = SupplementSource['contract'];
type FilteredList = List & { from_parameter: string | null; to_parameter: string | null };

/** The list that a page is of, and where it is kept. */
interface Pages {
  step: string;
  fileOf: (number: number) => string;
  /** Sees each page as it was received. */
  see?: (body: Uint8Array) => void;
}

/** Collects what one service shows: its answers are kept as they arrive. */
export class ServiceCollection {
  readonly #client: SupplementClient;
  readonly #contract: Contract;
  readonly #scope: SupplementScope;
  readonly #received: ReceivedAnswers;

  constructor(client: SupplementClient, contract: Contract, scope: SupplementScope, received: ReceivedAnswers) {
    this.#client = client;
    this.#contract = contract;
    this.#scope = scope;
    this.#received = received;
  }

  /** @throws EvidenceError for the first answer that is not as it must be. */
  async collect(service: SupplementService): Promise<void> {
    const { supplements } = this.#contract;
    const { traps, endpoints, agents } = supplements;
    if (service === 'traps' && traps !== null) await this.#records('traps', 'detections', traps.detections);
    if (service === 'endpoints' && endpoints !== null) {
      await this.#records('endpoints', 'events', endpoints.events);
      if (endpoints.scans !== null) await this.#records('endpoints', 'scans', endpoints.scans);
    }
    if (service === 'agents' && agents !== null) await this.#agents(agents);
    const statistics = supplements[service]?.statistics ?? null;
    if (statistics !== null) await this.#document('statistics', statisticsFile(service), statistics);
  }

  #records(service: OtherService, kind: RecordKind, list: FilteredList): Promise<void> {
    const pages = { step: kind, fileOf: (number: number) => pageFile(service, kind, number) };
    return this.#list(pages, list, {}, this.#filterOf(list));
  }

  /** The public verification and the actions of every agent whose stream the run exports. */
  async #agents({ agents, verifications, actions }: NonNullable<Contract['supplements']['agents']>): Promise<void> {
    const inScope = new Map<string, string>();
    const pages: Pages = {
      step: 'agents',
      fileOf: (number) => pageFile('agents', 'agents', number),
      see: (body) => this.#addAgents(inScope, body),
    };
    await this.#list(pages, agents, {}, {});
    for (const [slug, agentId] of inScope) {
      const ids = { agent_id: agentId };
      await this.#document('verification', verificationFile(slug), verifications.path, ids);
      const ofAgent: Pages = { step: 'actions', fileOf: (number) => actionsFile(slug, number) };
      await this.#list(ofAgent, actions, ids, this.#filterOf(actions));
    }
  }

  /** @param inScope agents by the names of their files. */
  #addAgents(inScope: Map<string, string>, body: Uint8Array): void {
    for (const { agentId, streamId } of readAgents(this.#contract, body)) {
      if (streamId === null || !this.#scope.streams.has(streamId)) continue;
      const slug = slugOf(agentId);
      const other = inScope.get(slug);
      if (other !== undefined)
        throw new EvidenceError('service', `the agents "${other}" and "${agentId}" would have the same file`);
      inScope.set(slug, agentId);
    }
  }

  async #list(
    { step, fileOf, see }: Pages,
    { path, items, paging, limit }: List,
    ids: Record<string, string>,
    filter: Record<string, string>,
  ): Promise<void> {
    let number = 0;
    const keep = (body: Uint8Array) => this.#received.keep(fileOf(++number), body);
    for await (const { exchange } of this.#client.pages({ path, items, paging, limit }, ids, filter, keep)) {
      const file = fileOf(number);
      this.#received.log(step, file, exchange());
      see?.(await this.#received.read(file));
    }
  }

  /** @param ids of a document that strangers may ask for, and that is asked for as they do. */
  async #document(step: string, file: string, path: string, ids?: Record<string, string>): Promise<void> {
    const { text, exchange } = await this.#client.document(path, ids, ids !== undefined);
    this.#received.keep(file, Buffer.from(text));
    this.#received.log(step, file, exchange);
  }

  #filterOf({ from_parameter, to_parameter }: FilteredList): Record<string, string> {
    const { from, to } = this.#scope.period;
    return {
      ...(from_parameter === null || from === null ? {} : { [from_parameter]: from }),
      ...(to_parameter === null || to === null ? {} : { [to_parameter]: to }),
    };
  }
}
