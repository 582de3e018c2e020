import type { Question } from '../../../verifier/records/question.ts';
import type { PeriodAnswer } from '../../export/period.ts';
import type { Notified } from '../../notify/notifications.ts';
import type { Config } from '../config/config.ts';
import type { OpenQueue } from '../config/queue.ts';
import type { Service } from '../config/service.ts';

/** Options of an export or a dry run. */
export interface ExportOptions {
  config: Config;
  answer: PeriodAnswer;
  scope: Question['scope'];
  revise: boolean;
  finalizePartial: boolean;
  beginSigning: boolean;
  serviceMoved: boolean;
  /** Queue of the workers that export the streams; null if this machine exports them. */
  queue: OpenQueue | null;
  notifications: Notified;
  service: Service;
}

/** Returns the question of a run with this id. */
export function questionOf({ answer, scope, service }: ExportOptions, runId: string): Question {
  return {
    run_id: runId,
    source: { audit_url: service.url, contract_sha256: service.contract.file?.sha256 ?? null },
    period: answer.period,
    scope,
  };
}
