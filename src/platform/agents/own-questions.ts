import type { SecretBox } from '../secrets.ts';

/** Another process of the platform may be so far off. */
const GOOD_FOR_MS = 60_000;

/**
 * A mark that the platform puts on its own questions to public verification, so that they do not count as those of
 * strangers: a kill switch asks about each agent of a family. The answer is the same with it and without.
 */
export class OwnQuestions {
  static readonly header = 'evidence-own-question';
  readonly #box: SecretBox;
  readonly #clock: () => Date;

  constructor(box: SecretBox, clock: () => Date) {
    this.#box = box;
    this.#clock = clock;
  }

  /** Good for a minute, and for questions about this agent. */
  mark(agentId: string): string {
    return this.#box.seal(Buffer.from(this.#clock().toISOString()), agentId).toString('base64url');
  }

  /** @param marked as it came in the header. */
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
