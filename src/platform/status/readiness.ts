/** Reports whether something that requests need is as it should be. */
export type ReadinessCheck = () => Promise<boolean>;

/** The time after which a check that did not answer has failed. */
const CHECK_MS = 2000;
/** Whoever asks within this time gets the same answer: anybody may ask, as often as they like. */
const KEPT_MS = 1000;

/** Tells whether this process can answer requests, and if not, why. */
export class Readiness {
  readonly #checks: Readonly<Record<string, ReadinessCheck>>;
  readonly #clock: () => Date;
  #kept: { at: number; answer: Promise<Record<string, boolean>> } | null = null;

  constructor(checks: Readonly<Record<string, ReadinessCheck>>, clock: () => Date) {
    this.#checks = checks;
    this.#clock = clock;
  }

  /** By name, whether each check went well. */
  look(): Promise<Record<string, boolean>> {
    const at = this.#clock().getTime();
    if (this.#kept === null || Math.abs(at - this.#kept.at) >= KEPT_MS) this.#kept = { at, answer: this.#lookNow() };
    return this.#kept.answer;
  }

  async #lookNow(): Promise<Record<string, boolean>> {
    const checks = Object.entries(this.#checks);
    const outcomes = await Promise.all(checks.map(([, check]) => inTime(check)));
    return Object.fromEntries(checks.map(([name], at) => [name, outcomes[at] === true]));
  }
}

/** Reports whether a check went well: one that fails, or takes too long, did not. */
async function inTime(check: ReadinessCheck): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), CHECK_MS);
  check().then(resolve, () => resolve(false));
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
  }
}
