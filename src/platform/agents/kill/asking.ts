import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../../core/errors.ts';
import { Dispatcher } from '../../outgoing/dispatcher.ts';
import type { SecretBox } from '../../secrets.ts';

/** Validity of a mark, which must cover the clock difference between processes of the platform. */
const GOOD_FOR_MS = 60_000;

/**
 * Marks for the platform's own requests to public verification, so that they do not count toward the rate limit of
 * strangers: a kill switch sends one for each agent of a family. The answer does not depend on the mark.
 */
export class OwnQuestions {
  static readonly header = 'evidence-own-question';
  readonly #box: SecretBox;
  readonly #clock: () => Date;

  constructor(box: SecretBox, clock: () => Date) {
    this.#box = box;
    this.#clock = clock;
  }

  /** Returns a mark that is valid for a minute, and only for requests about this agent. */
  mark(agentId: string): string {
    return this.#box.seal(Buffer.from(this.#clock().toISOString()), agentId).toString('base64url');
  }

  /** @param marked value of the header. */
  isOwn(agentId: string, marked: string | string[] | undefined): boolean {
    if (typeof marked !== 'string') return false;
    try {
      const at = this.#box.open(Buffer.from(marked, 'base64url'), agentId).toString();
      return Math.abs(this.#clock().getTime() - Date.parse(at)) <= GOOD_FOR_MS;
    } catch {
      return false;
    }
  }
}

/**
 * Requests from public verification whether an agent is still valid. @throws Error with a readable message; Unasked if
 * repeating the request soon is pointless.
 */
export type AskPublic = (agentId: string) => Promise<boolean>;

/** Error for a rate limit that no request will pass for a while. */
export class Unasked extends Error {}

const TIMEOUT_MS = 2000;

/**
 * Returns a function that requests the state where strangers do, without a key. @param verificationUrl returns the
 * address for an agent.
 * @param own marks the requests, so that they are not counted with those of strangers.
 */
export function askAsStranger(
  verificationUrl: (agentId: string) => string,
  own: Pick<OwnQuestions, 'mark'>,
): AskPublic {
  return async (agentId) => {
    const url = new URL(verificationUrl(agentId));
    const dispatcher = new Dispatcher({ allowed: [url.host], timeoutMs: TIMEOUT_MS });
    const headers = { [OwnQuestions.header]: own.mark(agentId) };
    const { status, body } = await dispatcher.send({ url, method: 'GET', headers });
    if (status === 429)
      throw new Unasked(`${url.host} refused the request because of a rate limit, possibly of a proxy.`);
    if (status !== 200) throw new Error(`${url.host} answered with status ${status}.`);
    const { valid } = JSON.parse(body.toString()) as { valid?: unknown };
    if (typeof valid !== 'boolean') throw new Error(`${url.host} sent an unexpected answer.`);
    return valid;
  };
}

const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 500;

/** Polls the states of agents, from the time when each should be stopped until public verification shows it. */
export class FlipWatch {
  readonly #ask: AskPublic;
  readonly #clock: () => Date;
  readonly #over = new AbortController();
  readonly #flips = new Map<string, Promise<Date | null>>();
  /** Reasons why the stop is not visible yet, by agent. */
  readonly #why = new Map<string, string>();

  constructor(ask: AskPublic, clock: () => Date) {
    this.#ask = ask;
    this.#clock = clock;
  }

  /** Starts polling. Resolves to null if polling is pointless. */
  begin(agentId: string): Promise<Date | null> {
    const known = this.#flips.get(agentId);
    if (known !== undefined) return known;
    const flip = this.#untilFlipped(agentId);
    flip.catch(() => {});
    this.#flips.set(agentId, flip);
    return flip;
  }

  /**
   * Returns the time at which public verification showed that an agent is not valid, or the reason why that was not
   * seen in time.
   */
  async flipped(agentId: string, ms: number): Promise<Date | { why: string }> {
    const given = new AbortController();
    const late = sleep(ms, null, { signal: given.signal }).catch(() => null);
    const at = await Promise.race([this.begin(agentId), late]);
    given.abort();
    return at ?? { why: this.#why.get(agentId) ?? 'Public verification did not answer.' };
  }

  stop(): void {
    this.#over.abort();
  }

  async #untilFlipped(agentId: string): Promise<Date | null> {
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      try {
        if (!(await this.#ask(agentId))) return this.#clock();
        this.#why.set(agentId, 'Public verification still reported the agent as valid.');
      } catch (error) {
        this.#why.set(agentId, `Public verification failed: ${messageOf(error)}`);
        if (error instanceof Unasked) return null;
      }
      await sleep(pause, null, { signal: this.#over.signal });
    }
  }
}
