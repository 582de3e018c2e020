import { randomUUID } from 'node:crypto';
import type { Selectable } from 'kysely';
import type { Json } from '../../core/json/canonical.ts';
import type { WireGenerated, WirePackageHead, WireSummary } from '../../core/wire.ts';
import type { Database } from '../database/database.ts';
import { DomainError } from '../errors.ts';
import { type KeyedRequest, KeyedResults, keyedRequest } from '../idempotency/keyed-results.ts';
import type { Checkpoints } from './checkpoints.ts';
import { headOf, periodOf, summaryOf } from './package-facts.ts';
import type { EntryPages } from './pages.ts';
import type { GenerateRequest } from './requests.ts';
import { entryToWire } from './rules.ts';
import type { AuditTables } from './schema.ts';
import { findStream, type StreamRow, streamToWire } from './streams.ts';
import { takeCensus } from './summary.ts';

/** Entries printed in full, and of a larger package those printed from each end. */
const PRINTED_WHOLE = 200;
const PRINTED_ENDS = 100;

/** How long a repeated request with the same idempotency key leads to the same package. */
const KEY_LIFETIME_MS = 24 * 60 * 60 * 1000;

type Range = { first: number; last: number };
const NOTHING: Range = { first: 1, last: 0 };

/** A package, with the id of its stream. */
export type PackageRow = Selectable<AuditTables['packages']> & { stream_id: string };

export interface EvidenceMeans {
  database: Database;
  pages: EntryPages;
  checkpoints: Checkpoints;
  clock: () => Date;
}

/**
 * Evidence packages. What a package says about its stream, and which entries it has, is settled when it is generated;
 * the entries themselves are read when somebody downloads them, from the rows that are never changed.
 */
export class Evidence {
  readonly #means: EvidenceMeans;
  readonly #printing = new Map<string, Promise<Uint8Array>>();

  constructor(means: EvidenceMeans) {
    this.#means = means;
  }

  /**
   * Generates a package, or names the one that the same request with the same key led to before.
   * @param key its idempotency key.
   * @throws DomainError `not_found` for a stream that does not exist, `idempotency_conflict`.
   */
  async generate(
    request: GenerateRequest,
    key: string | undefined,
  ): Promise<{ package: WireGenerated; repeated: boolean }> {
    const keyed = key === undefined ? null : keyedRequest('audit/evidence', key, request as Json);
    const earlier = keyed === null ? null : await this.#earlier(keyed);
    if (earlier !== null) return { package: toGenerated(await this.find(earlier)), repeated: true };
    const row = await this.#generate(request);
    const packageId = await this.#keep(row, keyed);
    const repeated = packageId !== row.package_id;
    return { package: toGenerated(repeated ? await this.find(packageId) : row), repeated };
  }

  /** @throws DomainError `not_found` for a package that does not exist. */
  async find(packageId: string): Promise<PackageRow> {
    const row = await this.#means.database
      .tables<AuditTables>()
      .selectFrom('packages')
      .innerJoin('streams', 'streams.stream_no', 'packages.stream_no')
      .selectAll('packages')
      .select('stream_id')
      .where('package_id', '=', packageId)
      .executeTakeFirst();
    if (row === undefined) throw new DomainError('not_found', 'there is no evidence package of this id');
    return row;
  }

  /** The JSON form, entries last, in pieces of bounded size; the same bytes every time. */
  async *json(row: PackageRow): AsyncGenerator<Buffer> {
    let separator = '';
    yield Buffer.from(`${row.head.slice(0, -1)},"entries":[`);
    for await (const page of this.#means.pages.json(row, row.first_sequence ?? 1, row.last_sequence ?? 0)) {
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

  /** The package that the same request led to before. */
  #earlier(keyed: KeyedRequest): Promise<string | null> {
    const { database, clock } = this.#means;
    return database.snapshot(async (transaction) => {
      const results = new KeyedResults(clock());
      await results.read(transaction, [keyed]);
      return results.resultOf(keyed);
    });
  }

  /** Keeps a package, unless the same request led to another one meanwhile; the id of the one that is kept. */
  #keep({ stream_id: _, ...row }: PackageRow, keyed: KeyedRequest | null): Promise<string> {
    const { database, clock } = this.#means;
    return database.write(async (transaction) => {
      const results = new KeyedResults(clock());
      if (keyed !== null) await results.read(transaction, [keyed]);
      const earlier = keyed === null ? null : results.resultOf(keyed);
      if (earlier !== null) return earlier;
      await transaction.tables<AuditTables>().insertInto('packages').values(row).execute();
      if (keyed !== null) results.keep(keyed, row.package_id, KEY_LIFETIME_MS);
      await results.write(transaction);
      return row.package_id;
    });
  }

  async #generate(request: GenerateRequest): Promise<PackageRow> {
    const { database, checkpoints, clock, pages } = this.#means;
    const packageId = randomUUID();
    const row = await findStream(database, request.stream_id);
    const stream = streamToWire(row);
    const now = clock().toISOString();
    const range = await this.#select(row, request);
    const anchors = range === null ? [] : await checkpoints.within(row, range);
    const { first, last } = range ?? NOTHING;
    const ends = range === null ? null : { first: await pages.one(row, first), last: await pages.one(row, last) };
    const census = await takeCensus(pages.counts(row, first, last), ends);
    const facts = { packageId, stream, period: periodOf(request), now, census, anchors };
    return {
      package_id: packageId,
      stream_no: row.stream_no,
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
  }

  /**
   * The sequence numbers that a period covers. Times never decrease along a stream, so it is one range; were one
   * changed in the database, its entry is still in between and in the package.
   */
  async #select({ stream_no, head_sequence }: StreamRow, { from, to }: GenerateRequest): Promise<Range | null> {
    let query = this.#means.database
      .tables<AuditTables>()
      .selectFrom('entries')
      .where('stream_no', '=', stream_no)
      .where('sequence', '<=', head_sequence);
    if (from) query = query.where('timestamp', '>=', from);
    if (to) query = query.where('timestamp', '<', to);
    // Two queries: each of them is answered from an end of an index, both together by reading all of it.
    const first = await query.select(({ fn }) => fn.min<number | null>('sequence').as('at')).executeTakeFirstOrThrow();
    const last = await query.select(({ fn }) => fn.max<number | null>('sequence').as('at')).executeTakeFirstOrThrow();
    return first.at === null || last.at === null ? null : { first: first.at, last: last.at };
  }

  #entries(row: PackageRow) {
    return this.#means.pages.between(row, row.first_sequence ?? 1, row.last_sequence ?? 0);
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
    await this.#means.database.write((transaction) =>
      transaction
        .tables<AuditTables>()
        .updateTable('packages')
        .set({ pdf })
        .where('package_id', '=', row.package_id)
        .execute(),
    );
    return pdf;
  }

  async #excerpt(row: PackageRow) {
    const entries = [];
    for await (const page of this.#entries(row)) entries.push(...page.map(entryToWire));
    return entries;
  }
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
