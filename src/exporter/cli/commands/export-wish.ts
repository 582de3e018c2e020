import type { Scope } from '../../export/context.ts';
import type { PeriodAnswer } from '../../export/period.ts';
import type { Config } from '../config/config.ts';
import type { Service } from '../config/service.ts';

/** What an export, or a dry run of it, is asked for. */
export interface ExportWish {
  config: Config;
  answer: PeriodAnswer;
  scope: Scope;
  revise: boolean;
  finalizePartial: boolean;
  beginSigning: boolean;
  serviceMoved: boolean;
  service: Service;
}
