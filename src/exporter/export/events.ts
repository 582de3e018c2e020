import type { StreamStatus } from '../../verifier/claims/claim.ts';
import type { Form } from '../client/audit.ts';

export type JobStep =
  | 'vendor-verify'
  | 'generate'
  | 'wait'
  | Form
  | 'listing'
  | 'examine'
  | 'bundle'
  | 'archive'
  | 'record';

/** Event of an export, for progress, log and metrics. */
export type ExportEvent =
  | { type: 'planned'; runId: string; streams: number; done: number; excluded: number; entryCounts: (number | null)[] }
  | { type: 'collecting'; service: string }
  | { type: 'collected'; service: string; answers: number; bytes: number }
  | { type: 'supplement-missing'; service: string; reason: string }
  | { type: 'started'; streamId: string }
  | { type: 'step'; streamId: string; step: JobStep }
  | { type: 'received'; streamId: string; form: Form; bytes: number }
  | { type: 'step-failed'; streamId: string; step: JobStep; message: string }
  | { type: 'finished'; streamId: string; status: StreamStatus; partial: boolean; entries: number; bytes: number }
  | { type: 'failed'; streamId: string; reason: string }
  /** All streams have ended; judging the run and rendering its reports begins. */
  | { type: 'concluding'; runId: string }
  | { type: 'finalized'; runId: string; outcome: string };

export type Listener = (event: ExportEvent) => void;
