import { z } from 'zod';
import {
  entrySchema,
  generatedSchema,
  pageSchema,
  streamSchema,
  verificationSchema,
  type WireGenerated,
  type WireStream,
  type WireVerification,
} from '../contract/default.ts';
import { EvidenceError } from '../errors.ts';
import type { Accepts } from './call.ts';
import type { Downloaded, Observer } from './download.ts';
import type { Exchange } from './exchange.ts';
import type { Transport } from './transport.ts';

/** Half-open, RFC 3339 in UTC; null is without an end. */
export interface Period {
  from: string | null;
  to: string | null;
}

export type Form = 'json' | 'pdf' | 'summary';

/** An entry as a list shows it, as far as a comparison needs it. */
export interface ListedEntry {
  sequence: number;
  digest: string;
  /** RFC 3339, as sent. */
  timestamp: string;
}

const listedEntrySchema = entrySchema.pick({ sequence: true, hash: true, timestamp: true });

const PAGE_LIMIT = 500;

/** A summary may be of any kind. */
const ACCEPTS: Record<Form, Accepts> = { json: 'json', pdf: 'pdf', summary: 'any' };

/** The audit service's operations that an export needs, in the default contract. */
export class AuditClient {
  readonly #transport: Transport;
  readonly #base: string;

  constructor(transport: Transport, baseUrl: string) {
    this.#transport = transport;
    this.#base = baseUrl.replace(/\/+$/, '');
  }

  async *listStreams(): AsyncGenerator<WireStream> {
    for await (const page of this.#pages('/streams/', {}, streamSchema)) yield* page;
  }

  /** The pages of a list. One that leads back to a page that was read never ends, so it is refused. */
  async *#pages<T extends z.ZodType>(
    path: string,
    filter: Record<string, string>,
    item: T,
  ): AsyncGenerator<z.infer<T>[]> {
    const seen = new Set<string>();
    let cursor: string | null = null;
    do {
      const query = new URLSearchParams({
        ...filter,
        limit: String(PAGE_LIMIT),
        ...(cursor === null ? {} : { cursor }),
      });
      const url = `${this.#base}${path}?${query}`;
      const { value } = await this.#transport.json({ method: 'GET', url, repeatable: true });
      const page: { data: z.infer<T>[]; next_cursor: string | null } = parse(pageSchema(item), value, url);
      yield page.data;
      cursor = page.next_cursor;
      if (cursor !== null && seen.has(cursor))
        throw new EvidenceError('service', `${url} leads back to a page that was already read: its list never ends`);
      if (cursor !== null) seen.add(cursor);
    } while (cursor !== null);
  }

  /** Has the service check the stream itself. */
  async verifyStream(streamId: string): Promise<{ verification: WireVerification; exchange: Exchange }> {
    const url = `${this.#base}/streams/${inPath(streamId)}/verify`;
    const { value, exchange } = await this.#transport.json({ method: 'POST', url, body: {}, repeatable: true });
    return { verification: parse(verificationSchema, value, url), exchange };
  }

  /** @param idempotencyKey makes a repeated request answer with the package of the first. */
  async generate(
    streamId: string,
    period: Period,
    idempotencyKey: string,
  ): Promise<{ generated: WireGenerated; exchange: Exchange }> {
    const url = `${this.#base}/evidence/generate`;
    const body = {
      stream_id: streamId,
      ...(period.from === null ? {} : { from: period.from }),
      ...(period.to === null ? {} : { to: period.to }),
    };
    const headers = { 'idempotency-key': idempotencyKey };
    const { value, exchange } = await this.#transport.json({ method: 'POST', url, body, headers, repeatable: true });
    return { generated: parse(generatedSchema, value, url), exchange };
  }

  /** The stream's entries of a period, page by page, in the order of their sequence. */
  async *listEntries(streamId: string, period: Period): AsyncGenerator<ListedEntry[]> {
    const filter = {
      stream_id: streamId,
      ...(period.from === null ? {} : { from: period.from }),
      ...(period.to === null ? {} : { to: period.to }),
    };
    for await (const page of this.#pages('/entries/', filter, listedEntrySchema))
      yield page.map(({ sequence, hash, timestamp }) => ({ sequence, digest: hash, timestamp }));
  }

  async packageStatus(packageId: string): Promise<WireGenerated> {
    const url = `${this.#base}/evidence/${inPath(packageId)}`;
    const { value } = await this.#transport.json({ method: 'GET', url, repeatable: true });
    return parse(generatedSchema, value, url);
  }

  /**
   * One form of a package into a file.
   * @param observer sees the same bytes while they arrive; `restart` when they begin again.
   */
  async download(packageId: string, form: Form, file: string, observer: Observer): Promise<Downloaded> {
    const url = `${this.#base}/evidence/${inPath(packageId)}/${form}`;
    return this.#transport.download({ method: 'GET', url, repeatable: true, accepts: ACCEPTS[form] }, file, observer);
  }
}

/**
 * An id as one segment of a path. Every URL parser takes `.` and `..` for steps, encoded or not (WHATWG URL, 4.5), so
 * they would address something else.
 */
function inPath(id: string): string {
  if (/^\.{0,2}$/.test(id) || !id.isWellFormed())
    throw new EvidenceError('service', `the id ${JSON.stringify(id)} cannot stand in the path of a URL`);
  return encodeURIComponent(id);
}

function parse<T>(schema: z.ZodType<T>, value: unknown, url: string): T {
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  throw new EvidenceError('contract', `the answer of ${url} does not fit the contract: ${z.prettifyError(read.error)}`);
}
