import { RESUME } from '../../core/errors.ts';
import type { ExportContext } from './context.ts';
import type { ListedStream } from './plan.ts';
import { type CommonCode, commonCodeOf, type StreamOutcome } from './stream-jobs.ts';

/**
 * Number of consecutive streams that must fail with the same code before the remaining streams are skipped. Each of
 * them is retried as often as any request.
 */
const GIVEN_UP_AFTER = 10;

/** Failures that the next stream would hit too. */
const COMMON = {
  unreachable: {
    why: `the service was unreachable for the last ${GIVEN_UP_AFTER} streams`,
    next_step: { ...RESUME, before: 'When the service is reachable,' },
  },
  refused: {
    why: `the service refused this key for the last ${GIVEN_UP_AFTER} streams`,
    next_step: 'Give this API key the right to generate evidence packages, or use another key; then export again.',
  },
} as const satisfies Record<CommonCode, object>;

/**
 * Tracks whether the service accepts this key at all. After the same failure on many consecutive streams, the rest is
 * skipped, and the same command resumes with them. A run that is finalized even if incomplete tries every stream,
 * because nothing can be added to it later.
 */
export class ServiceReach {
  readonly #context: ExportContext;
  #failing: { code: CommonCode; streams: number } | null = null;

  constructor(context: ExportContext) {
    this.#context = context;
  }

  /** Exports a stream, unless earlier failures show that the service would not deliver this one either. */
  async exportWithin({ streamId }: ListedStream, exportIt: () => Promise<StreamOutcome>): Promise<StreamOutcome> {
    if (this.#isGone) return this.#leaveOut(streamId);
    const outcome = await this.#context.runtime.around(streamId, exportIt);
    const code = commonCodeOf(outcome);
    const before = this.#failing?.code === code ? this.#failing.streams : 0;
    this.#failing = code === null ? null : { code, streams: before + 1 };
    return outcome;
  }

  get #isGone(): boolean {
    return (this.#failing?.streams ?? 0) >= GIVEN_UP_AFTER && !this.#context.finalizePartial;
  }

  #leaveOut(streamId: string): StreamOutcome {
    const code = this.#failing?.code ?? 'unreachable';
    const { why, next_step } = COMMON[code];
    const reason = `not tried, because ${why}`;
    this.#context.runtime.listen({ type: 'failed', streamId, reason });
    return { kind: 'failed', failure: { stream_id: streamId, code, reason, next_step } };
  }
}
