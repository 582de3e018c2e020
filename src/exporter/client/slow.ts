/** Error for a request that exceeded its time limit or fell below its minimum rate. */
export class SlowError extends Error {}

/** Minimum rate of a body. */
export interface LeastRate {
  bytesPerSecond: number;
  /** Milliseconds of each of the consecutive windows in which the rate is measured. */
  windowMs: number;
}

/** Measures the rate of a body. Time in which received bytes wait for their reader does not count. */
export class RateWatch {
  readonly #least: LeastRate;
  readonly #onSlow: (error: SlowError) => void;
  #timer: NodeJS.Timeout;
  #began = performance.now();
  #bytes = 0;
  #pausedMs = 0;
  #pausedAt: number | null = null;

  constructor(least: LeastRate, onSlow: (error: SlowError) => void) {
    this.#least = least;
    this.#onSlow = onSlow;
    this.#timer = setTimeout(() => this.#look(), least.windowMs);
  }

  received(bytes: number): void {
    this.#bytes += bytes;
  }

  pause(): void {
    this.#pausedAt ??= performance.now();
  }

  resume(): void {
    if (this.#pausedAt !== null) this.#pausedMs += performance.now() - this.#pausedAt;
    this.#pausedAt = null;
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  #look(): void {
    const { bytesPerSecond, windowMs } = this.#least;
    const now = performance.now();
    const pausedMs = this.#pausedMs + (this.#pausedAt === null ? 0 : now - this.#pausedAt);
    const leftMs = windowMs - (now - this.#began - pausedMs);
    if (leftMs <= 0 && this.#bytes < (bytesPerSecond * windowMs) / 1000) {
      const said = `it sent ${this.#bytes} bytes in ${windowMs / 1000} seconds; the minimum is ${bytesPerSecond} a second`;
      this.#onSlow(new SlowError(said));
      return;
    }
    if (leftMs <= 0) {
      this.#began = now;
      this.#bytes = 0;
      this.#pausedMs = 0;
      if (this.#pausedAt !== null) this.#pausedAt = now;
    }
    this.#timer = setTimeout(() => this.#look(), Math.max(1, leftMs <= 0 ? windowMs : leftMs));
  }
}
