import type { ExportContext } from './context.ts';
import type { ListedStream } from './plan.ts';
import { type CommonCode, commonCodeOf, type StreamOutcome } from './stream-jobs.ts';

/** Number of streams in a row, each tried as often as any request is, that must fail alike before the rest is left out. */
const GIVEN_UP_AFTER = 10;

/** Ends of a stream that the next one would meet, too. */
const COMMON = {
  unreachable: {
    why: `the service was out of reach for the ${GIVEN_UP_AFTER} streams before`,
    next_step: 'When the service can be reached, run the same command again to resume.',
  },
  refused: {
    why: `the service refused this key for the ${GIVEN_UP_AFTER} streams before`,
    next_step: 'Give this API key the right to generate evidence packages, or use another key; then export again.',
  },
} as const satisfies Record<CommonCode, object>;

/**
 * Tells if the service answers this key at all. When it fails alike for every stream, the remaining ones are not tried:
 * the same command resumes with them. A run that is finalized whatever is missing tries each, as nothing is added to it later.
 */
export class ServiceReach {
  readonly #context: ExportContext;
  #failing: { code: CommonCode; streams: number } | null = null;

  constructor(context: ExportContext) {
    this.#context = context;
  }

  /** Exports a stream, unless the ones before show that the service would not give it either. */
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
    return { kind: 'failed', failure: { stream_id: streamId, reason, next_step }, code };
  }
}
