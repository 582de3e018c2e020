import { hash, randomUUID } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import type { Kysely } from 'kysely';
import { canonicalize, type Json } from '../../core/json/canonical.ts';
import {
  PACKAGE_FORMAT,
  type WireCheckpoint,
  type WireGenerated,
  type WirePackageHead,
  type WireStream,
  type WireSummary,
} from '../../core/wire.ts';
import { HttpProblem } from '../http/problem.ts';
import type { PackageRow, Tables } from '../store/schema.ts';
import { inTransaction } from '../store/sqlite.ts';
import type { Checkpoints } from './checkpoints.ts';
import { Idempotency } from './idempotency.ts';
import { streamToWire } from './list.ts';
import type { GenerateRequest } from './requests.ts';
import { entryToWire } from './rules.ts';
import type { EntryPages } from './store.ts';
import { type Census, limitationsOf, takeCensus } from './summary.ts';

/** How long a repeated request with the same idempotency key leads to the same package. */
const KEY_LIFETIME_MS = 24 * 60 * 60 * 1000;

/** Entries printed in full, and of a larger package those printed from each end. */
const PRINTED_WHOLE = 200;
const PRINTED_ENDS = 100;

type Range = { first: number; last: number };
const NOTHING: Range = { first: 1, last: 0 };

export interface EvidenceOptions {
  database: DatabaseSync;
  db: Kysely<Tables>;
  pages: EntryPages;
  checkpoints: Checkpoints;
  clock: () => Date;
}

/**
 * Evidence packages. What a package says about its stream, and which entries it has, is settled when it is generated;
 * the entries themselves are read when somebody downloads them, from the rows that are never changed.
 */
export class Evidence {
  readonly #options: EvidenceOptions;
  readonly #idempotency: Idempotency;
  /** Requests under way by idempotency key, so that two at once make one package. */
  readonly #generating = new Map<string, Promise<WireGenerated>>();
  readonly #printing = new Map<string, Promise<Uint8Array>>();

  constructor(options: EvidenceOptions) {
    this.#options = options;
    this.#idempotency = new Idempotency(options.database);
  }

  /**
   * Generates a package, or names the one that the same request with the same key led to before.
   * @throws Problem 404 for a stream that does not exist, 422 `idempotency_conflict`.
   */
  async generate(
    request: GenerateRequest,
    key: string | undefined,
  ): Promise<{ package: WireGenerated; repeated: boolean }> {
    if (key === undefined) return { package: await this.#generate(request), repeated: false };
    const body = hash('sha256', canonicalize(request as Json), 'hex');
    await this.#generating.get(key);
    const since = new Date(this.#options.clock().getTime() - KEY_LIFETIME_MS).toISOString();
    const earlier = this.#idempotency.find('evidence', key, body, since);
    if (earlier !== null) return { package: toGenerated(await this.find(earlier)), repeated: true };
    const generating = this.#generate(request, { key, body }).finally(() => this.#generating.delete(key));
    this.#generating.set(key, generating);
    return { package: await generating, repeated: false };
  }

  /** @throws Problem 404 for a package that does not exist. */
  async find(packageId: string): Promise<PackageRow> {
    const row = await this.#options.db
      .selectFrom('packages')
      .selectAll()
      .where('package_id', '=', packageId)
      .executeTakeFirst();
    if (row === undefined) throw new HttpProblem(404, 'not_found', 'there is no evidence package of this id');
    return row;
  }

  /** The JSON form, entries last, in pieces of bounded size; the same bytes every time. */
  async *json(row: PackageRow): AsyncGenerator<Buffer> {
    let separator = '';
    yield Buffer.from(`${row.head.slice(0, -1)},"entries":[`);
    const { stream_id, first_sequence, last_sequence } = row;
    for await (const page of this.#options.pages.json(stream_id, first_sequence ?? 1, last_sequence ?? 0)) {
      yield Buffer.concat([Buffer.from(separator), page]);
      separator = ',';
    }
    yield Buffer.from(']}');
  }

  /** The PDF form; set once and kept. */
  async pdf(row: PackageRow): Promise<Uint8Array> {
    if (row.pdf !== null) return row.pdf;
    let printing = this.#printing.get(row.package_id);
    if (printing === undefined) {
      printing = this.#print(row).finally(() => this.#printing.delete(row.package_id));
      this.#printing.set(row.package_id, printing);
    }
    return printing;
  }

  async #generate(request: GenerateRequest, claim?: { key: string; body: string }): Promise<WireGenerated> {
    const { database, db, checkpoints, clock, pages } = this.#options;
    const packageId = randomUUID();
    const stream = await this.#stream(request.stream_id);
    const now = clock().toISOString();
    const range = await this.#select(stream, request);
    const anchors = range === null ? [] : await checkpoints.within(stream.stream_id, range.first, range.last);
    const { first, last } = range ?? NOTHING;
    const ends = range === null ? null : pages.ends(stream.stream_id, range);
    const census = await takeCensus(pages.counts(stream.stream_id, first, last), ends);
    const facts = { packageId, stream, period: periodOf(request), now, census, anchors };
    const row: PackageRow = {
      package_id: packageId,
      stream_id: stream.stream_id,
      title: request.title ?? `Audit evidence of ${stream.stream_id}`,
      created_at: now,
      entry_count: census.count,
      first_sequence: census.first?.sequence ?? null,
      last_sequence: census.last?.sequence ?? null,
      head: JSON.stringify(headOf(facts)),
      summary: JSON.stringify(summaryOf(facts)),
      pdf: null,
    };
    const { sql, parameters } = db.insertInto('packages').values(row).compile();
    inTransaction(database, () => {
      database.prepare(sql).run(...(parameters as string[]));
      if (claim !== undefined) this.#idempotency.remember('evidence', claim.key, claim.body, packageId, now);
    });
    return toGenerated(row);
  }

  async #stream(streamId: string): Promise<WireStream> {
    const row = await this.#options.db
      .selectFrom('streams')
      .selectAll()
      .where('stream_id', '=', streamId)
      .executeTakeFirst();
    if (row === undefined) throw new HttpProblem(404, 'not_found', 'there is no stream of this id');
    return streamToWire(row);
  }

  /**
   * The sequence numbers that a period covers. Times never decrease along a stream, so it is one range; were one
   * changed in the database, its entry is still in between and in the package.
   */
  async #select(stream: WireStream, { from, to }: GenerateRequest): Promise<Range | null> {
    let query = this.#options.db
      .selectFrom('entries')
      .select(({ fn }) => [fn.min('sequence').as('first'), fn.max('sequence').as('last')])
      .where('stream_id', '=', stream.stream_id)
      .where('sequence', '<=', stream.head_sequence);
    if (from) query = query.where('timestamp', '>=', from);
    if (to) query = query.where('timestamp', '<', to);
    const { first, last } = await query.executeTakeFirstOrThrow();
    return first === null || last === null ? null : { first, last };
  }

  #entries({ stream_id, first_sequence, last_sequence }: PackageRow) {
    return this.#options.pages.between(stream_id, first_sequence ?? 1, last_sequence ?? 0);
  }

  async #print(row: PackageRow): Promise<Uint8Array> {
    const { renderEvidencePdf } = await import('./pdf.ts');
    const { first_sequence, last_sequence } = row;
    const whole = row.entry_count <= PRINTED_WHOLE || first_sequence === null || last_sequence === null;
    const pdf = await renderEvidencePdf({
      title: row.title,
      summary: JSON.parse(row.summary) as WireSummary,
      generatedAt: row.created_at,
      checkpoints: (JSON.parse(row.head) as WirePackageHead).checkpoints,
      first: await this.#excerpt(whole ? row : { ...row, last_sequence: first_sequence + PRINTED_ENDS - 1 }),
      last: whole ? [] : await this.#excerpt({ ...row, first_sequence: last_sequence - PRINTED_ENDS + 1 }),
    });
    await this.#options.db.updateTable('packages').set({ pdf }).where('package_id', '=', row.package_id).execute();
    return pdf;
  }

  async #excerpt(row: PackageRow) {
    const entries = [];
    for await (const page of this.#entries(row)) entries.push(...page.map(entryToWire));
    return entries;
  }
}

interface Facts {
  packageId: string;
  stream: WireStream;
  period: WireSummary['period'];
  now: string;
  census: Census;
  anchors: WireCheckpoint[];
}

function headOf({ packageId, stream, period, now, census, anchors }: Facts): WirePackageHead {
  return {
    format: PACKAGE_FORMAT,
    package_id: packageId,
    stream,
    period,
    generated_at: now,
    entry_count: census.count,
    first_sequence: census.first?.sequence ?? null,
    last_sequence: census.last?.sequence ?? null,
    head_hash: census.last?.hash ?? null,
    checkpoints: anchors,
  };
}

function summaryOf({ packageId, stream, period, census, anchors }: Facts): WireSummary {
  return {
    package_id: packageId,
    stream_id: stream.stream_id,
    period,
    entry_count: census.count,
    first_sequence: census.first?.sequence ?? null,
    last_sequence: census.last?.sequence ?? null,
    head_hash: census.last?.hash ?? null,
    first_timestamp: census.first?.timestamp ?? null,
    last_timestamp: census.last?.timestamp ?? null,
    counts: census.counts,
    verification: { verified: stream.verified, last_checked_at: stream.last_checked_at },
    limitations: limitationsOf(stream, census, anchors),
  };
}

function periodOf({ from, to }: GenerateRequest): WireSummary['period'] {
  return from || to ? { from: from ?? null, to: to ?? null } : null;
}

export function toGenerated(row: PackageRow): WireGenerated {
  return {
    package_id: row.package_id,
    status: 'ready',
    stream_id: row.stream_id,
    entry_count: row.entry_count,
    created_at: row.created_at,
  };
}
