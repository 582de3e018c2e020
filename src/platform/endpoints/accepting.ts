import { canonicalHead, type ReportHead } from '../../sensor/report/head.ts';
import { keptPlace } from '../audit/api.ts';
import type { Transaction } from '../database/database.ts';
import { baselineRow } from './baseline-rows.ts';
import type { EndpointDeps } from './deps.ts';
import { type EndpointAct, endpointActor } from './entries.ts';
import { EventWriting } from './event-writing.ts';
import {
  changeEndpoint,
  changeScan,
  dueAfter,
  type Endpoint,
  type EndpointScan,
  insertScan,
  newNonce,
  scanRow,
} from './host-rows.ts';
import { setDifferences } from './lines/comparing.ts';
import { CLOCK_OFF_MS, clockOff, severityOfChain, severityOfClock } from './rules.ts';

/** Report that continues the chain of its endpoint, and whose lines are stored. */
export interface WholeReport {
  head: ReportHead;
  sha256: string;
  signature: string;
  /** Sensor's clock when it sent the report, if stated. */
  sentAt: string | null;
  setNo: number;
}

/** Accepts a report: advances the chain, derives events from its lines, and records an entry. */
export async function acceptReport(
  transaction: Transaction,
  deps: EndpointDeps,
  endpoint: Endpoint,
  report: WholeReport,
): Promise<{ endpoint: Endpoint; scan: EndpointScan }> {
  const now = deps.clock();
  const before = endpoint.last_scan_no === null ? null : await scanRow(transaction, endpoint.last_scan_no);
  const scan = await insertScan(transaction, newScan(endpoint, report, now));
  const { scan_no } = scan;
  const isSame =
    before !== null &&
    before.set_no === scan.set_no &&
    before.baseline_no === scan.baseline_no &&
    before.complete === scan.complete;
  const events = await EventWriting.begin(transaction, deps, endpoint, isSame ? 'reports' : 'all');
  judgeOfReports(events, endpoint, report, now);
  const { baseline_no } = endpoint;
  if (baseline_no !== null && isSame) events.sameAsBefore();
  if (baseline_no !== null && !isSame) await compareWith(transaction, events, { ...scan, baseline_no });
  const received_at = now.toISOString();
  const entry = events.entries.add(
    endpointActor(endpoint.endpoint_id),
    acceptedEntry(endpoint, report, { received_at, events: events.counts }),
  );
  const { head, sha256: report_sha256 } = report;
  const moved = { sequence: head.sequence, report_sha256, nonce: newNonce(), last_scan_no: scan_no, received_at };
  const change = { ...moved, due_at: dueAfter(now, endpoint), stale_at: null };
  await changeEndpoint(transaction, endpoint, change);
  const { raised: events_raised, resolved: events_resolved } = events.counts;
  const { unresolved: events_open, places } = await events.write();
  const outcome = { events_open, events_raised, events_resolved, ...keptPlace(places[entry]) };
  await changeScan(transaction, scan, outcome);
  return { endpoint: { ...endpoint, ...change }, scan: { ...scan, ...outcome } };
}

/** Returns the entry of an accepted report. */
function acceptedEntry(
  { chain }: Endpoint,
  { head, sha256: report_sha256 }: WholeReport,
  taken: { received_at: string; events: EventWriting['counts'] },
): EndpointAct {
  const { scan_id, sequence, root_hash, line_count, complete, started_at, finished_at } = head;
  return {
    action: 'report.accepted',
    of: ['report', scan_id],
    more: { report_sha256, chain, sequence, root_hash, line_count, complete, started_at, finished_at, ...taken },
  };
}

/** Compares the lines of a scan with those of a baseline. */
export async function compareWith(
  transaction: Transaction,
  events: EventWriting,
  scan: Pick<EndpointScan, 'scan_no' | 'set_no' | 'complete'> & { baseline_no: number },
): Promise<void> {
  const { set_no } = await baselineRow(transaction, scan.baseline_no);
  const { scan_no, baseline_no, complete } = scan;
  const differences = setDifferences(transaction, set_no, scan.set_no);
  await events.compare(differences, { scan_no, baseline_no, isComplete: complete === 1 });
}

/** Raises events about the report itself, apart from its lines. */
function judgeOfReports(events: EventWriting, endpoint: Endpoint, { head, sentAt }: WholeReport, now: Date): void {
  events.resolveOfReports(['stale'], 'it reported again');
  const { started_at, finished_at } = sentAt === null ? head : { started_at: sentAt, finished_at: sentAt };
  const off = clockOff({ started_at, finished_at }, now);
  if (off > CLOCK_OFF_MS)
    events.raiseOfReports({
      type: 'clock_jump',
      severity: severityOfClock(off),
      expected: { received_at: now.toISOString() },
      observed: { started_at, finished_at },
    });
  else events.resolveOfReports(['clock_jump'], 'its clock is right again');
  const { went_back_at, sequence } = endpoint;
  if (went_back_at !== null)
    events.raiseOfReports({
      type: 'report_fork',
      severity: severityOfChain('report_fork'),
      expected: { went_back_at },
      observed: { sequence: head.sequence, previous: sequence, boot_id: head.boot_id },
    });
}

function newScan(
  { endpoint_no, chain, baseline_no }: Endpoint,
  { head, sha256, signature, setNo }: WholeReport,
  now: Date,
) {
  return {
    scan_id: head.scan_id,
    endpoint_no,
    chain,
    sequence: head.sequence,
    report_sha256: sha256,
    head: canonicalHead(head),
    signature,
    received_at: now.toISOString(),
    set_no: setNo,
    complete: Number(head.complete),
    baseline_no,
    events_open: 0,
    events_raised: 0,
    events_resolved: 0,
  };
}
