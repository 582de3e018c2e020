import type { ExportContext } from './context.ts';
import type { ListedStream } from './plan.ts';
import type { StreamOutcome } from './stream.ts';

/** After so many streams in a row, each tried as often as any request is, the rest would fare no better. */
const GIVEN_UP_AFTER = 10;

/**
 * Whether the service can still be reached. When it is gone for every stream, those that are left are not tried: the same
 * command goes on with them. A run that is finalized whatever is missing tries each, as nothing is added to it later.
 */
export class ServiceReach {
  readonly #context: ExportContext;
  #unreachable = 0;

  constructor(context: ExportContext) {
    this.#context = context;
  }

  get isGone(): boolean {
    return this.#unreachable >= GIVEN_UP_AFTER && !this.#context.finalizePartial;
  }

  /** Takes note of how a stream ended. */
  see(outcome: StreamOutcome): StreamOutcome {
    const isUnreachable = outcome.kind === 'failed' && outcome.isUnreachable;
    this.#unreachable = isUnreachable ? this.#unreachable + 1 : 0;
    return outcome;
  }

  /** The end of a stream that is not tried. */
  leaveOut({ streamId }: ListedStream): StreamOutcome {
    const reason = `not tried, because the service was out of reach for the ${GIVEN_UP_AFTER} streams before`;
    this.#context.runtime.listen({ type: 'failed', streamId, reason });
    const next_step = 'When the service can be reached, run the same command again to resume.';
    return { kind: 'failed', failure: { stream_id: streamId, reason, next_step }, isUnreachable: true };
  }
}
