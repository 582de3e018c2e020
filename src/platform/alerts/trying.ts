import { setTimeout as sleep } from 'node:timers/promises';
import type { z } from 'zod';
import type { Outbox } from '../jobs/outbox.ts';
import type { alertTestSchema } from './wire.ts';

/** Maximum time to wait for the result of a test; a delivery takes at most 10 seconds. */
const LONGEST_MS = 15_000;
const PAUSE_MS = 100;

/**
 * Returns the result of the first attempt to deliver a test alert; `pending` if there is none in time.
 * @throws the reason of `signal`.
 */
export async function outcomeOf(
  outbox: Pick<Outbox, 'standing'>,
  message_id: string,
  signal: AbortSignal,
): Promise<z.infer<typeof alertTestSchema>> {
  for (const end = performance.now() + LONGEST_MS; performance.now() < end; ) {
    const { status, last_error: error } = await outbox.standing(message_id);
    if (status === 'delivered') return { message_id, state: 'delivered', error: null };
    if (error !== null) return { message_id, state: 'failed', error };
    await sleep(PAUSE_MS, undefined, { signal });
  }
  return { message_id, state: 'pending', error: null };
}
