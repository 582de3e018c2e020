import { randomUUID } from 'node:crypto';
import type { Json } from '../../core/json/canonical.ts';
import type { Database } from '../database/database.ts';
import { DomainError, there } from '../errors.ts';
import { earlierResult, type KeyedRequest, keyedRequest, makeIdOnce } from '../idempotency/keyed-results.ts';
import { rowChanger, rowInserter } from '../rows.ts';
import { nextNumber } from './head-rows.ts';
import type { NewPackage, PackageOrder, PackageRow } from './packing.ts';
import type { RowSeals } from './sealed-rows.ts';
import { SharedWork } from './shared-work.ts';
import { AUDIT_TABLES, type AuditTables } from './tables.ts';
import type { GenerateRequest, WireGenerated } from './wire.ts';

interface EvidenceDeps {
  database: Database;
  seals: RowSeals;
  clock: () => Date;
  settle(order: PackageOrder, signal: AbortSignal): Promise<NewPackage>;
  print(row: PackageRow, signal: AbortSignal): Promise<Uint8Array>;
}

/**
 * Evidence packages. Generating a package fixes its statements about the stream and the range of its checkpoints and
 * entries. Downloads read the checkpoints and entries, and rows of entries never change.
 */
export class Evidence {
  readonly #deps: EvidenceDeps;
  readonly #printing = new SharedWork<Uint8Array>();

  constructor(deps: EvidenceDeps) {
    this.#deps = deps;
  }

  /**
   * Generates a package, or returns the one that the same request with the same key produced before.
   * @param key the request's idempotency key.
   * @throws DomainError `not_found` if the stream does not exist, `idempotency_conflict`.
   */
  async generate(
    request: GenerateRequest,
    key: string | undefined,
    signal: AbortSignal,
  ): Promise<{ package: WireGenerated; repeated: boolean }> {
    const { database, settle, clock } = this.#deps;
    const keyed = keyedRequest('audit/evidence', key, request as Json);
    const earlier = keyed && (await database.snapshot((reader) => earlierResult(reader, keyed, clock())));
    if (earlier !== null) return { package: toGenerated(await this.find(earlier)), repeated: true };
    const row = await settle({ packageId: randomUUID(), now: clock().toISOString(), request }, signal);
    const packageId = await this.#keep(row, keyed);
    const repeated = packageId !== row.package_id;
    return { package: toGenerated(repeated ? await this.find(packageId) : row), repeated };
  }

  /** @throws DomainError `not_found` if the package does not exist, `package_damaged`. */
  async find(packageId: string): Promise<PackageRow> {
    const { database, seals } = this.#deps;
    const row = there(
      await database
        .tables<AuditTables>()
        .selectFrom('packages')
        .innerJoin('streams', 'streams.stream_no', 'packages.stream_no')
        .select(['packages.stream_no', 'stream_id', 'package_id', 'title', 'packages.created_at'])
        .select(['packages.entry_count', 'first_sequence', 'last_sequence', 'checkpoints', 'anchored'])
        .select(['number', 'head', 'summary', 'seal'])
        .where('package_id', '=', packageId)
        .executeTakeFirst(),
      'no evidence package has this ID',
    );
    if (row.seal !== seals.package(row, row.stream_id)) throw damaged();
    return row;
  }

  /**
   * Returns the digest of the JSON form as sent in the first complete download; null before that.
   * @throws DomainError `package_damaged`.
   */
  async jsonDigest({ package_id }: PackageRow): Promise<string | null> {
    const { database, seals } = this.#deps;
    const query = database.tables<AuditTables>().selectFrom('packages').select(['json_sha256', 'json_seal']);
    const { json_sha256, json_seal } = await query.where('package_id', '=', package_id).executeTakeFirstOrThrow();
    if (json_sha256 !== null && json_seal !== seals.json(package_id, json_sha256)) throw damaged();
    return json_sha256;
  }

  /** Stores the digest of the JSON form unless one is stored. */
  async keepJsonDigest({ package_id }: PackageRow, sha256: string): Promise<void> {
    const { database, seals } = this.#deps;
    const kept = { json_sha256: sha256, json_seal: seals.json(package_id, sha256) };
    await database.write((transaction) => {
      const packages = transaction.tables<AuditTables>().updateTable('packages').set(kept);
      return packages.where('package_id', '=', package_id).where('json_sha256', 'is', null).execute();
    });
  }

  /**
   * Returns the PDF form, which is rendered once and stored. @throws DomainError `package_damaged`; the reason of
   * `signal`.
   */
  async pdf(row: PackageRow, signal: AbortSignal): Promise<Uint8Array> {
    const { database, seals } = this.#deps;
    const { package_id } = row;
    const query = database.tables<AuditTables>().selectFrom('packages').select(['pdf', 'pdf_seal']);
    const { pdf, pdf_seal } = await query.where('package_id', '=', package_id).executeTakeFirstOrThrow();
    if (pdf === null) return this.#printing.join(package_id, signal, (abandoned) => this.#print(row, abandoned));
    if (pdf_seal !== seals.pdf(package_id, pdf)) throw damaged();
    return pdf;
  }

  async #print(row: PackageRow, signal: AbortSignal): Promise<Uint8Array> {
    const { database, seals, print } = this.#deps;
    const { package_id } = row;
    const pdf = await print(row, signal);
    const kept = { pdf, pdf_seal: seals.pdf(package_id, pdf) };
    await database.write((transaction) => changePackage(transaction, row, kept));
    return pdf;
  }

  /** Stores a package and returns its id, or the id of the package that the same request produced in the meantime. */
  #keep({ stream_id, ...row }: NewPackage, keyed: KeyedRequest | null): Promise<string> {
    const { seals } = this.#deps;
    return makeIdOnce(this.#deps, keyed, async (transaction) => {
      const numbered = { ...row, number: await nextNumber(transaction, seals, stream_id, 'packages') };
      await insertPackage(transaction, { ...numbered, seal: seals.package(numbered, stream_id) });
      return row.package_id;
    });
  }
}

const insertPackage = rowInserter(AUDIT_TABLES, 'packages');
const changePackage = rowChanger(AUDIT_TABLES, 'packages', 'package_id');

function damaged(): DomainError {
  return new DomainError(
    'package_damaged',
    'this package was changed outside the service; generate another one with POST /evidence/generate',
  );
}

export function toGenerated({ package_id, stream_id, entry_count, created_at }: NewPackage): WireGenerated {
  return { package_id, status: 'ready', stream_id, entry_count, created_at };
}
