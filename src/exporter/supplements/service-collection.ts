import { writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EvidenceError } from '../../core/errors.ts';
import type { TransferLog } from '../../verifier/bundle/documents.ts';
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
import type { ReceivedFiles } from '../../verifier/supplements/tally.ts';
import { LimitError } from '../client/answer.ts';
import type { Exchange } from '../client/exchange.ts';
import { periodFilter } from '../client/operations.ts';
import type { Period } from '../client/period.ts';
import type { SupplementClient } from '../client/supplement.ts';
import type { SupplementSource } from './source.ts';

/** Limits of a supplement: period and streams. */
export interface SupplementScope {
  period: Period;
  /** Ids of the streams that the run exports. */
  streams: ReadonlySet<string>;
}

type Contract = SupplementSource['contract'];
type FilteredList = List & { from_parameter: string | null; to_parameter: string | null };

/** Step and file names of a list's pages. */
interface Pages {
  step: string;
  fileOf: (number: number) => string;
  /** Receives each page as it was received. */
  see?: (body: Uint8Array) => void;
}

/** Collects the supplement of one service and stores its answers as they arrive. */
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

  /** @throws EvidenceError on the first invalid answer. */
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
    return this.#list(pages, list, {}, periodFilter(list, this.#scope.period));
  }

  /** Collects the public verification and the actions of every agent whose stream the run exports. */
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
      await this.#list(ofAgent, actions, ids, periodFilter(actions, this.#scope.period));
    }
  }

  /** @param inScope agent ids by the slugs of their files. */
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

  /** @param ids of a public document, which is requested without the API key; omit them for other documents. */
  async #document(step: string, file: string, path: string, ids?: Record<string, string>): Promise<void> {
    const { text, exchange } = await this.#client.document(path, ids, ids !== undefined);
    this.#received.keep(file, Buffer.from(text));
    this.#received.log(step, file, exchange);
  }
}

/** Answer stored as a file. */
interface Kept {
  /** Path in the bag. */
  path: string;
  file: string;
  bytes: number;
}

/** Answers of one service: files as they were received, and the log of their transfers. */
export class ReceivedAnswers implements ReceivedFiles {
  readonly transferLog: TransferLog['steps'] = [];
  readonly #folder: string;
  readonly #limits: SupplementSource['limits'];
  readonly #kept = new Map<string, Kept>();
  #bytes = 0;

  /** @param folder for this service only. */
  constructor(folder: string, limits: SupplementSource['limits']) {
    this.#folder = folder;
    this.#limits = limits;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get files(): Kept[] {
    return [...this.#kept.values()];
  }

  /**
   * Stores an answer.
   * @param path in the bag.
   * @throws EvidenceError `service` if the answers exceed the limits.
   */
  keep(path: string, body: Uint8Array): void {
    const { answers, bytes } = this.#limits;
    this.#bytes += body.length;
    if (this.#kept.size >= answers) throw tooMuch(`more than ${answers} answers`, 'pages');
    if (this.#bytes > bytes) throw tooMuch(`more than ${bytes} bytes`, 'package_bytes');
    const file = join(this.#folder, `${this.#kept.size}.json`);
    writeFileSync(file, body, { mode: 0o600 });
    this.#kept.set(path, { path, file, bytes: body.length });
  }

  /** Logs the exchange of a stored answer. */
  log(step: string, path: string, exchange: Exchange): void {
    this.transferLog.push({ step, file: path, exchange });
  }

  /** Paths of the answers in the bag. */
  get paths(): Iterable<string> {
    return this.#kept.keys();
  }

  async read(path: string): Promise<Uint8Array> {
    const kept = this.#kept.get(path);
    if (kept === undefined) throw new TypeError(`there is no ${path}`);
    return readFile(kept.file);
  }
}

function tooMuch(what: string, limit: string): LimitError {
  return new LimitError(
    `the service continues after ${what}: its lists never end or are too long`,
    `If the lists are really that long, raise source.limits.${limit}.`,
  );
}
