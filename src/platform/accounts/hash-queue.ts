import { DomainError } from '../errors.ts';

/** Maximum number of hashes at once: each needs memory, and a thread that the file system and DNS also use. */
const AT_ONCE = 2;

/** Maximum numbers of hashes that wait in a lane, in total and of one sender. */
const MOST_WAITING = 64;
const MOST_OF_SENDER = 16;

/** Time after which a refused sender may try again, in seconds: a full lane is then empty. */
const RETRY_SECONDS = 15;

/**
 * Lanes, the first served first: devices, sessions and links that are known; senders and accounts without a failure;
 * and all others, whose guesses therefore delay nobody else.
 */
const LANES = ['known', 'clean', 'suspect'] as const;
export type HashLane = (typeof LANES)[number];

/** Sender of a password to be hashed. */
export interface HashSender {
  lane: HashLane;
  /** Network, or the device, session or link that is known. */
  sender: string;
}

type Start = () => void;

/** Waiting hashes of one lane, in turn by sender. */
class Lane {
  readonly #senders = new Map<string, Start[]>();
  #size = 0;

  hasRoom(sender: string): boolean {
    return this.#size < MOST_WAITING && (this.#senders.get(sender)?.length ?? 0) < MOST_OF_SENDER;
  }

  add(sender: string, start: Start): void {
    this.#senders.set(sender, [...(this.#senders.get(sender) ?? []), start]);
    this.#size++;
  }

  /** Removes the next one, and puts its sender behind the others. */
  take(): Start | undefined {
    const [next] = this.#senders;
    if (next === undefined) return undefined;
    const [sender, [start, ...others]] = next;
    this.#senders.delete(sender);
    if (others.length > 0) this.#senders.set(sender, others);
    this.#size--;
    return start;
  }
}

/** Limits the number of passwords that are hashed at once, and of those that wait. */
export class HashQueue {
  #free = AT_ONCE;
  readonly #lanes: Record<HashLane, Lane> = { known: new Lane(), clean: new Lane(), suspect: new Lane() };

  /** @throws DomainError `sign_in_busy` if none of the lanes has room for the sender. */
  refuseFull(lanes: readonly HashLane[], sender: string): void {
    if (this.#free > 0 || lanes.some((lane) => this.#lanes[lane].hasRoom(sender))) return;
    const message = `too many passwords are waiting to be checked; try again in ${RETRY_SECONDS} s`;
    throw new DomainError('sign_in_busy', message, { retry_after: RETRY_SECONDS });
  }

  /** Runs `work`, which hashes a password. @throws DomainError `sign_in_busy`. */
  async run<T>({ lane, sender }: HashSender, work: () => Promise<T>): Promise<T> {
    this.refuseFull([lane], sender);
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#lanes[lane].add(sender, resolve));
    try {
      return await work();
    } finally {
      const next = this.#next();
      if (next === undefined) this.#free++;
      // Pass the place directly to the next one, so that no other caller can take it first.
      else next();
    }
  }

  #next(): Start | undefined {
    for (const lane of LANES) {
      const start = this.#lanes[lane].take();
      if (start !== undefined) return start;
    }
    return undefined;
  }
}
