import { type ReportHead, reportSha256 } from '../../sensor/report/head.ts';
import { LineRoot } from '../../sensor/report/root.ts';
import { isReportSigned } from '../../sensor/report/signature.ts';
import type { WireEntry } from '../audit/api.ts';
import type { Reader } from '../database/database.ts';
import { rowInserter } from '../rows.ts';
import type { EndpointDeps } from './deps.ts';
import { streamOf } from './enums.ts';
import { type EndpointScan, findEndpoint } from './host-rows.ts';
import { chunksOfSet, linesInChunks } from './lines/line-sets.ts';
import { ENDPOINT_TABLES, type EndpointTables } from './tables.ts';
import type { EndpointFinding } from './wire/reports.ts';

/** Maximum number of reports, or entries, that are read at once. */
const AT_ONCE = 500;

const insertCheck = rowInserter(ENDPOINT_TABLES, 'endpoint_checks');

/** Report as recorded in the audit stream. */
interface RecordedReport {
  chain: number;
  sequence: number;
  report_sha256: string;
  root_hash: string;
}

/** Compares the stored reports of an endpoint with each other and with the audit stream. */
export class EndpointVerification {
  readonly #deps: EndpointDeps;

  constructor(deps: EndpointDeps) {
    this.#deps = deps;
  }

  /**
   * Recomputes the digest and signature of each report, the root over its lines, and the links of the chain, and
   * compares them with the entries of the endpoint's stream. The audit service verifies the stream itself. Stores the
   * time and the number of findings.
   * @throws DomainError `not_found`.
   */
  async verify(endpointId: string) {
    const { database, clock } = this.#deps;
    const endpoint = await findEndpoint(database, endpointId);
    const { reports, keys } = await this.#recorded(endpointId);
    const walk = new ReportWalk(database, keys, reports);
    for (let after: number | null = 0; after !== null; ) {
      const scans = await scansAfter(database, endpoint.endpoint_no, after);
      for (const scan of scans) await walk.check(scan);
      after = scans.at(-1)?.scan_no ?? null;
    }
    walk.end(endpoint);
    const { findings, checked, roots } = walk;
    const checked_at = clock().toISOString();
    const check = { endpoint_no: endpoint.endpoint_no, checked_at, reports: checked, findings: findings.length };
    await database.write((transaction) => insertCheck(transaction, check));
    return {
      endpoint_id: endpointId,
      verified: findings.length === 0,
      checked_at,
      reports_checked: checked,
      roots_checked: roots,
      findings,
    };
  }

  /** Reads the accepted reports and the keys of chains from the stream. */
  async #recorded(endpointId: string) {
    const { database, log } = this.#deps;
    const reports = new Map<string, RecordedReport>();
    const keys = new Map<number, string>();
    for (let before: number | undefined; before !== 1; ) {
      const entries: WireEntry[] = await log.newest(database, streamOf(endpointId), { limit: AT_ONCE, before });
      for (const { action, metadata } of entries) {
        const told = metadata as unknown as RecordedReport & { public_key: string };
        const { chain, sequence, report_sha256, root_hash } = told;
        if (action === 'report.accepted') reports.set(placeOf(told), { chain, sequence, report_sha256, root_hash });
        if (action === 'endpoint.key_bound') keys.set(chain, told.public_key);
      }
      before = entries.at(-1)?.sequence ?? 1;
    }
    return { reports, keys };
  }
}

/** Walk over the reports of an endpoint, starting with the first. */
class ReportWalk {
  readonly #reader: Reader;
  readonly #keys: ReadonlyMap<number, string>;
  /** Recorded reports that were not visited yet. */
  readonly #recorded: Map<string, RecordedReport>;
  /** Root over the lines by the number of the set. */
  readonly #roots = new Map<number, string>();
  #before: { chain: number; sequence: number; report_sha256: string } | null = null;
  readonly findings: EndpointFinding[] = [];
  checked = 0;

  constructor(reader: Reader, keys: ReadonlyMap<number, string>, recorded: Map<string, RecordedReport>) {
    this.#reader = reader;
    this.#keys = keys;
    this.#recorded = recorded;
  }

  /** Returns the number of line sets that were hashed. */
  get roots(): number {
    return this.#roots.size;
  }

  async check(scan: EndpointScan): Promise<void> {
    this.checked++;
    const head = headIn(scan);
    if (head === null || reportSha256(head) !== scan.report_sha256)
      this.#find(scan, 'report_digest', `the head of the report does not match the digest ${scan.report_sha256}`);
    else this.#checkHead(scan, head);
    this.#checkChain(scan, head);
    this.#checkEntry(scan);
    const root = await this.#rootOf(scan.set_no);
    if (head !== null && root !== head.root_hash)
      this.#find(
        scan,
        'root_differs',
        `its lines have the root ${root}, but the report is signed for ${head.root_hash}`,
      );
    this.#before = scan;
  }

  /** @param endpoint columns that describe its last report. */
  end({ chain, sequence, report_sha256 }: { chain: number; sequence: number; report_sha256: string | null }): void {
    for (const { chain, sequence } of this.#recorded.values())
      this.#find({ chain, sequence }, 'report_missing', 'the audit stream records this report, but it is not stored');
    const last = this.#before?.chain === chain ? this.#before : null;
    if ((last?.report_sha256 ?? null) !== report_sha256 || (last?.sequence ?? 0) !== sequence)
      this.#find({ chain, sequence }, 'head_differs', 'the endpoint names another last report than the stored one');
  }

  #checkHead(scan: EndpointScan, head: ReportHead): void {
    const key = this.#keys.get(scan.chain);
    if (key === undefined) this.#find(scan, 'key_differs', 'the audit stream has no key for this chain of reports');
    else if (!isReportSigned(head, scan.signature, key))
      this.#find(scan, 'report_signature', 'the report is not signed with the key bound to its chain');
    const same =
      head.sequence === scan.sequence && head.scan_id === scan.scan_id && Number(head.complete) === scan.complete;
    if (!same) this.#find(scan, 'report_differs', 'its row differs from what was signed');
  }

  #checkChain(scan: EndpointScan, head: ReportHead | null): void {
    const before = this.#before?.chain === scan.chain ? this.#before : null;
    const follows = scan.sequence === (before?.sequence ?? 0) + 1;
    if (follows && (head === null || head.previous_report_sha256 === (before?.report_sha256 ?? null))) return;
    this.#find(scan, 'report_chain', 'the report does not follow the previous one');
  }

  #checkEntry(scan: EndpointScan): void {
    const recorded = this.#recorded.get(placeOf(scan));
    this.#recorded.delete(placeOf(scan));
    if (recorded === undefined) this.#find(scan, 'report_unrecorded', 'the audit stream has no entry for this report');
    else if (recorded.report_sha256 !== scan.report_sha256)
      this.#find(
        scan,
        'report_differs',
        `the audit stream records the digest ${recorded.report_sha256}, but the stored report has ${scan.report_sha256}`,
      );
  }

  async #rootOf(setNo: number): Promise<string> {
    const known = this.#roots.get(setNo);
    if (known !== undefined) return known;
    const root = await rootOfSet(this.#reader, setNo);
    this.#roots.set(setNo, root);
    return root;
  }

  #find(
    { chain, sequence }: { chain: number; sequence: number },
    code: EndpointFinding['code'],
    message: string,
  ): void {
    this.findings.push({ code, chain, sequence, message });
  }
}

function placeOf({ chain, sequence }: { chain: number; sequence: number }): string {
  return `${chain}/${sequence}`;
}

function headIn({ head }: EndpointScan): ReportHead | null {
  try {
    return JSON.parse(head) as ReportHead;
  } catch {
    return null;
  }
}

/** Returns the root over the stored lines, or a text that explains why there is none. */
async function rootOfSet(reader: Reader, setNo: number): Promise<string> {
  const root = new LineRoot();
  try {
    for await (const line of linesInChunks(reader, await chunksOfSet(reader, setNo))) root.add(line);
    return root.root();
  } catch {
    return 'unknown (they cannot be read)';
  }
}

function scansAfter(reader: Reader, endpointNo: number, scanNo: number): Promise<EndpointScan[]> {
  const scans = reader.tables<EndpointTables>().selectFrom('endpoint_scans').selectAll();
  const own = scans.where('endpoint_no', '=', endpointNo).where('scan_no', '>', scanNo);
  return own.orderBy('scan_no').limit(AT_ONCE).execute();
}
