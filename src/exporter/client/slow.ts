/** A request that took longer than it may. */
export class SlowError extends Error {}

/** The least that a body must bring. */
export interface LeastRate {
  bytesPerSecond: number;
  /** Milliseconds over which it is measured, one stretch after the other. */
  windowMs: number;
}

/** Measures the rate of a body. Time in which nobody takes what is there does not count. */
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
      const said = `its answer brings ${this.#bytes} bytes in ${windowMs / 1000} seconds, and must bring ${bytesPerSecond} a second`;
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
