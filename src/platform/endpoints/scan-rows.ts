import type { Selectable } from 'kysely';
import type { KeptEntryPlace } from '../audit/api.ts';
import type { Reader, Transaction } from '../database/database.ts';
import type { EndpointTables } from './tables.ts';

export type EndpointScan = Selectable<EndpointTables['endpoint_scans']>;

/** @returns its number. */
export async function insertScan(transaction: Transaction, scan: Omit<EndpointScan, 'scan_no'>): Promise<number> {
  const scans = transaction.tables<EndpointTables>().insertInto('endpoint_scans').values(scan);
  return (await scans.returning('scan_no').executeTakeFirstOrThrow()).scan_no;
}

export async function scanRow(reader: Reader, scanNo: number): Promise<EndpointScan> {
  const scans = reader.tables<EndpointTables>().selectFrom('endpoint_scans').selectAll();
  return await scans.where('scan_no', '=', scanNo).executeTakeFirstOrThrow();
}

/** True if a report of an endpoint was accepted before. */
export async function isReportAccepted(reader: Reader, endpointNo: number, reportSha256: string): Promise<boolean> {
  const scans = reader.tables<EndpointTables>().selectFrom('endpoint_scans').select('scan_no');
  const same = scans.where('endpoint_no', '=', endpointNo).where('report_sha256', '=', reportSha256);
  return (await same.executeTakeFirst()) !== undefined;
}

/** Records the result of comparing a scan, and the entry of its report. */
export async function noteOutcome(
  transaction: Transaction,
  scanNo: number,
  outcome: Pick<EndpointScan, 'events_open' | 'events_raised' | 'events_resolved'> & KeptEntryPlace,
): Promise<void> {
  const scans = transaction.tables<EndpointTables>().updateTable('endpoint_scans').set(outcome);
  await scans.where('scan_no', '=', scanNo).execute();
}
