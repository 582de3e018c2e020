import { randomBytes } from 'node:crypto';
import type { Selectable } from 'kysely';
import type { Reader } from '../database/database.ts';
import { DomainError } from '../errors.ts';
import type { Principal } from '../http/principal.ts';
import { rowChanger, rowFinder, rowInserter } from '../rows.ts';
import { ENDPOINT_TABLES, type EndpointTables } from './tables.ts';

/** Number of intervals without a report after which an endpoint is stale. */
export const STALE_AFTER_INTERVALS = 3;

const PREFIX = 'endpoint:';

/** Returns the binding of a key that reports for an endpoint. */
export function boundTo(endpointId: string): string {
  return `${PREFIX}${endpointId}`;
}

/** Returns the id of the endpoint that a caller reports for. @throws DomainError `forbidden` if there is none. */
export function endpointOf({ boundTo: bound }: Pick<Principal, 'boundTo'>): string {
  if (bound === undefined || bound === null || !bound.startsWith(PREFIX))
    throw new DomainError(
      'forbidden',
      'this API key is not bound to an endpoint; sensors use the token that enrollment showed',
    );
  return bound.slice(PREFIX.length);
}

export type Endpoint = Selectable<EndpointTables['endpoints']>;

/** Returns an endpoint, locked until the transaction ends. @throws DomainError `not_found`. */
export const findEndpoint = rowFinder(ENDPOINT_TABLES, 'endpoints', 'endpoint_id', {
  missing: 'no endpoint has this ID',
  isLocked: true,
});

/**
 * Returns an endpoint that is in use, like `findEndpoint`. @throws DomainError `not_found`; `conflict` if it is
 * retired.
 */
export async function findEndpointInUse(reader: Reader, endpointId: string): Promise<Endpoint> {
  const endpoint = await findEndpoint(reader, endpointId);
  refuseRetired(endpoint);
  return endpoint;
}

/** @throws DomainError `conflict`. */
export function refuseRetired({ retired_at }: Pick<Endpoint, 'retired_at'>): void {
  if (retired_at !== null)
    throw new DomainError('conflict', `the endpoint was retired at ${retired_at}; enroll the machine again`);
}

export const endpointRow = rowFinder(ENDPOINT_TABLES, 'endpoints', 'endpoint_no', { isLocked: true });

export const changeEndpoint = rowChanger(ENDPOINT_TABLES, 'endpoints', 'endpoint_no');

/** Returns a value that the next report has to contain, so that a report cannot be made in advance. */
export function newNonce(): string {
  return randomBytes(16).toString('hex');
}

/** Returns the time at which an endpoint becomes stale that has just reported. */
export function dueAfter(now: Date, { scan_interval_seconds }: Pick<Endpoint, 'scan_interval_seconds'>): string {
  return new Date(now.getTime() + STALE_AFTER_INTERVALS * scan_interval_seconds * 1000).toISOString();
}

/** Returns the values that the next report of an endpoint has to contain. */
export function nextOf({ sequence, report_sha256, nonce }: Pick<Endpoint, 'sequence' | 'report_sha256' | 'nonce'>) {
  return { sequence: sequence + 1, previous_report_sha256: report_sha256, nonce };
}

/** Returns the columns of a chain that starts over. */
export function newChain(chain: number) {
  return { chain, public_key: null, sequence: 0, report_sha256: null, nonce: newNonce(), went_back_at: null };
}

export type EndpointScan = Selectable<EndpointTables['endpoint_scans']>;

export const insertScan = rowInserter(ENDPOINT_TABLES, 'endpoint_scans');

export const scanRow = rowFinder(ENDPOINT_TABLES, 'endpoint_scans', 'scan_no');

/** Reports whether this report of an endpoint was accepted before. */
export async function isReportAccepted(reader: Reader, endpointNo: number, reportSha256: string): Promise<boolean> {
  const scans = reader.tables<EndpointTables>().selectFrom('endpoint_scans').select('scan_no');
  const same = scans.where('endpoint_no', '=', endpointNo).where('report_sha256', '=', reportSha256);
  return (await same.executeTakeFirst()) !== undefined;
}

export const changeScan = rowChanger(ENDPOINT_TABLES, 'endpoint_scans', 'scan_no');
