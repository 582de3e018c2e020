import type { Json } from '../../core/json/canonical.ts';
import type { ReportHead } from '../../sensor/report/head.ts';
import type { DomainCode } from '../errors.ts';
import type { ChainEventType } from './enums.ts';
import type { Endpoint } from './host-rows.ts';

/** Report, and facts about it. */
export interface PresentedReport {
  head: ReportHead;
  sha256: string;
  isSigned: boolean;
  /** True if the report was accepted before and is not the last one. */
  isOlder: boolean;
}

/** Refusal of a report, and the facts of the event about it. */
export interface RefusedReport {
  kind: 'refused';
  type: Extract<DomainCode, ChainEventType>;
  message: string;
  expected: { [name: string]: Json };
  observed: { [name: string]: Json };
}

/** Verdict on a report. `again`: the report is the last accepted one, whose answer was lost. */
export type ReportVerdict = { kind: 'next' } | { kind: 'again' } | RefusedReport;

/** Checks that a report continues the chain of its endpoint. */
// Over 40 lines: it is the list of reasons for a refusal, in order of precedence.
export function judgeReport(endpoint: Endpoint, { head, sha256, isSigned, isOlder }: PresentedReport): ReportVerdict {
  const next = endpoint.sequence + 1;
  const { sequence, previous_report_sha256, nonce } = head;
  const refuse = (
    type: RefusedReport['type'],
    message: string,
    expected: RefusedReport['expected'],
    observed: RefusedReport['observed'],
  ): RefusedReport => ({
    kind: 'refused',
    type,
    message,
    expected,
    observed: { ...observed, report_sha256: sha256, boot_id: head.boot_id },
  });
  if (!isSigned)
    return refuse(
      'report_signature',
      "the report is not signed with this endpoint's key",
      { public_key: endpoint.public_key },
      { sequence },
    );
  if (sha256 === endpoint.report_sha256) return { kind: 'again' };
  if (isOlder) return refuse('report_repeated', 'the report was already accepted', { sequence: next }, { sequence });
  if (sequence < next)
    return refuse(
      'snapshot_restored',
      `another report already has sequence ${sequence}: the machine was restored from a snapshot, or another machine has its key`,
      { sequence: next, previous_report_sha256: endpoint.report_sha256 },
      { sequence, previous_report_sha256 },
    );
  if (sequence > next)
    return refuse(
      'report_gap',
      `reports from sequence ${next} to ${sequence - 1} were never accepted`,
      { sequence: next },
      { sequence },
    );
  if (previous_report_sha256 !== endpoint.report_sha256)
    return refuse(
      'report_fork',
      'the report does not follow the last accepted report: two machines use one key',
      { sequence: next, previous_report_sha256: endpoint.report_sha256 },
      { sequence, previous_report_sha256 },
    );
  if (nonce !== endpoint.nonce)
    return refuse(
      'report_repeated',
      'the report does not contain the current nonce, so it was made in advance',
      { sequence: next, nonce: endpoint.nonce },
      { sequence, nonce },
    );
  return { kind: 'next' };
}
