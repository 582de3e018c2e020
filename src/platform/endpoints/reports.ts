import { type ReportHead, reportHeadOf, reportSha256 } from '../../sensor/report/head.ts';
import type { EndpointLine } from '../../sensor/report/line.ts';
import { isReportSigned } from '../../sensor/report/signature.ts';
import { placeToWire } from '../audit/api.ts';
import type { Reader, Transaction } from '../database/database.ts';
import { pick } from '../database/table.ts';
import { DomainError } from '../errors.ts';
import { newestFirst } from '../http/newest-first.ts';
import { acceptReport, type WholeReport } from './accepting.ts';
import { baselineRow } from './baseline-rows.ts';
import { judgeReport, type PresentedReport, type RefusedReport, type ReportVerdict } from './chain.ts';
import type { EndpointDeps } from './deps.ts';
import { streamOf } from './enums.ts';
import { EventWriting } from './event-writing.ts';
import {
  changeEndpoint,
  type Endpoint,
  type EndpointScan,
  findEndpointInUse,
  isReportAccepted,
  nextOf,
  scanRow,
} from './host-rows.ts';
import { lineSetOf, type NewLineSet, storeLineSet } from './lines/line-sets.ts';
import { severityOfChain } from './rules.ts';
import { takePart, unstage } from './staging.ts';
import type { EndpointTables } from './tables.ts';
import type { ScanQuery, WireReport, WireReportTaken, WireScan } from './wire/reports.ts';

/** Answer to a part of a report. */
type ReportAnswer = { taken: WireReportTaken } | { part: number; next_part: number; parts: number };

/** Scans of endpoints, for routes and pages. */
export class Reports {
  readonly #deps: EndpointDeps;

  constructor(deps: EndpointDeps) {
    this.#deps = deps;
  }

  /**
   * Receives a part of a report, and processes the report once it is complete: all of it or nothing.
   * @param endpointId of the reporting sensor.
   * @throws DomainError `forbidden` for another endpoint; `conflict` if the endpoint is retired; `no_key`;
   * `lines_needed`; those of `judgeReport` and `takePart`; `root_differs`.
   */
  async take(endpointId: string, body: WireReport): Promise<ReportAnswer> {
    const { database, clock } = this.#deps;
    if (body.endpoint_id !== endpointId)
      throw new DomainError(
        'forbidden',
        'the report is for another endpoint than the one that the API key is bound to',
      );
    const head = reportHeadOf(body);
    const report = { head, sha256: reportSha256(head), signature: body.signature, sentAt: body.sent_at ?? null };
    const { endpoint, verdict } = await this.#judge(database, endpointId, report);
    if (verdict.kind === 'refused') return { taken: await this.#refuse(endpointId, report) };
    if (verdict.kind === 'again') return { taken: await this.#answer(endpoint) };
    const lines = body.lines as EndpointLine[];
    if (lines.length === 0 && head.line_count > 0) return { taken: await this.#takeKnown(endpointId, report) };
    const { endpoint_no: endpointNo } = endpoint;
    const { part, parts } = body;
    const given = { endpointNo, kind: 'scan' as const, headSha256: report.sha256, part, parts, lines };
    const set = await takePart(database, clock(), given);
    if ('next_part' in set) return { part, parts, ...set };
    if (set.root_hash !== head.root_hash || set.line_count !== head.line_count) {
      await database.write((transaction) => unstage(transaction, given));
      throw rootDiffers(head, set);
    }
    return {
      taken: await this.#accept(endpointId, report, async (transaction) => {
        await unstage(transaction, given);
        return storeLineSet(transaction, set);
      }),
    };
  }

  /** Lists scans, newest first. @throws DomainError `invalid_cursor`. */
  async list({ limit, cursor, endpoint_id, from, to }: ScanQuery) {
    let scans = this.#deps.database
      .tables<EndpointTables>()
      .selectFrom('endpoint_scans')
      .innerJoin('endpoints', 'endpoints.endpoint_no', 'endpoint_scans.endpoint_no')
      .leftJoin('baselines', 'baselines.baseline_no', 'endpoint_scans.baseline_no')
      .selectAll('endpoint_scans')
      .select(['endpoint_id', 'baseline_id']);
    if (from !== undefined) scans = scans.where('endpoint_scans.received_at', '>=', from);
    if (to !== undefined) scans = scans.where('endpoint_scans.received_at', '<', to);
    if (endpoint_id !== undefined) scans = scans.where('endpoint_id', '=', endpoint_id);
    const numbered = { list: 'scans', table: 'endpoint_scans', number: 'scan_no' } as const;
    const { page, next_cursor } = await newestFirst(scans, numbered, { limit, cursor });
    return { data: page.map((row) => scanToWire(row)), next_cursor };
  }

  async #judge(
    reader: Reader,
    endpointId: string,
    { head, sha256, signature }: Omit<WholeReport, 'setNo' | 'sentAt'>,
  ): Promise<{ endpoint: Endpoint; verdict: ReportVerdict }> {
    const endpoint = await findEndpointInUse(reader, endpointId);
    const { public_key } = endpoint;
    if (public_key === null)
      throw new DomainError(
        'no_key',
        'the endpoint has no key yet; bind one with POST /sensor/key before the first report',
      );
    const presented: PresentedReport = {
      head,
      sha256,
      isSigned: isReportSigned(head, signature, public_key),
      isOlder: sha256 !== endpoint.report_sha256 && (await isReportAccepted(reader, endpoint.endpoint_no, sha256)),
    };
    return { endpoint, verdict: judgeReport(endpoint, presented) };
  }

  /** Accepts a report whose lines are already stored, from the last report or from an identical machine. */
  #takeKnown(endpointId: string, report: Omit<WholeReport, 'setNo'>): Promise<WireReportTaken> {
    const { head } = report;
    return this.#accept(endpointId, report, async (transaction) => {
      const set = await lineSetOf(transaction, head.root_hash);
      if (set === undefined)
        throw new DomainError(
          'lines_needed',
          'lines with this root are not stored; send the report again with its lines',
        );
      if (set.line_count !== head.line_count) throw rootDiffers(head, set);
      return set.set_no;
    });
  }

  async #accept(
    endpointId: string,
    report: Omit<WholeReport, 'setNo'>,
    storeLines: (transaction: Transaction) => Promise<number>,
  ): Promise<WireReportTaken> {
    const outcome = await this.#deps.database.write(async (transaction) => {
      const { endpoint, verdict } = await this.#judge(transaction, endpointId, report);
      if (verdict.kind === 'refused') return null;
      if (verdict.kind === 'again') return endpoint;
      const setNo = await storeLines(transaction);
      return (await acceptReport(transaction, this.#deps, endpoint, { ...report, setNo })).endpoint;
    });
    // Another report was accepted in the meantime.
    return outcome === null ? this.#refuse(endpointId, report) : this.#answer(outcome);
  }

  /**
   * Records the event that refuses a report.
   * @returns the answer to the same report if it was accepted in the meantime.
   * @throws DomainError to be sent to the sensor.
   */
  async #refuse(endpointId: string, report: Omit<WholeReport, 'setNo'>): Promise<WireReportTaken> {
    const outcome = await this.#deps.database.write(async (transaction) => {
      const { endpoint, verdict } = await this.#judge(transaction, endpointId, report);
      if (verdict.kind === 'again') return endpoint;
      if (verdict.kind !== 'refused')
        return new DomainError('conflict', 'another report was accepted in the meantime; send the report again');
      await this.#note(transaction, endpoint, verdict);
      const { type, message } = verdict;
      return new DomainError(type, message, { next_sequence: endpoint.sequence + 1 });
    });
    if (outcome instanceof DomainError) throw outcome;
    return this.#answer(outcome);
  }

  async #note(transaction: Transaction, endpoint: Endpoint, { type, expected, observed }: RefusedReport) {
    const events = await EventWriting.begin(transaction, this.#deps, endpoint, 'reports');
    events.raiseOfReports({ type, severity: severityOfChain(type), expected, observed });
    if (type === 'snapshot_restored' && endpoint.went_back_at === null)
      await changeEndpoint(transaction, endpoint, { went_back_at: this.#deps.clock().toISOString() });
    await events.write();
  }

  /** Returns the answer to the last report. */
  async #answer(endpoint: Endpoint): Promise<WireReportTaken> {
    const { database } = this.#deps;
    if (endpoint.last_scan_no === null) throw new Error('an accepted report is not there');
    const scan = await scanRow(database, endpoint.last_scan_no);
    const baseline = scan.baseline_no === null ? null : await baselineRow(database, scan.baseline_no);
    const events = { open: scan.events_open, raised: scan.events_raised, resolved: scan.events_resolved };
    return {
      scan_id: scan.scan_id,
      report_sha256: scan.report_sha256,
      sequence: scan.sequence,
      next: nextOf(endpoint),
      baseline: baseline === null ? null : { baseline_id: baseline.baseline_id },
      events,
      message:
        baseline === null
          ? 'The endpoint has no active baseline, so nothing was compared and no event was raised.'
          : `Compared with the baseline "${baseline.name}", version ${baseline.version}.`,
    };
  }
}

function rootDiffers(
  { root_hash, line_count }: ReportHead,
  seen: Pick<NewLineSet, 'root_hash' | 'line_count'>,
): DomainError {
  return new DomainError(
    'root_differs',
    `the report is signed for ${line_count} lines with the root ${root_hash}, but has ${seen.line_count} lines with the root ${seen.root_hash}; nothing was stored`,
  );
}

function scanToWire(row: EndpointScan & { endpoint_id: string; baseline_id: string | null }): WireScan {
  const head = JSON.parse(row.head) as ReportHead;
  return {
    ...pick(row, ['scan_id', 'endpoint_id', 'chain', 'sequence', 'report_sha256', 'received_at', 'baseline_id']),
    ...pick(head, ['started_at', 'finished_at', 'boot_id', 'roots', 'line_count', 'root_hash']),
    complete: row.complete === 1,
    events: { open: row.events_open, raised: row.events_raised, resolved: row.events_resolved },
    entry: entryOf(row),
  };
}

function entryOf(row: EndpointScan & { endpoint_id: string }): WireScan['entry'] {
  const { endpoint_id, entry_sequence, entry_hash } = row;
  if (entry_sequence === null || entry_hash === null) return null;
  return placeToWire(streamOf(endpoint_id), { entry_sequence, entry_hash });
}
