import type { Family, MetricSample } from '../../core/exposition.ts';

interface Counted {
  labels: Readonly<Record<string, string>>;
  /** Counts by bucket, not cumulative; the last one is for values above all bounds. */
  counts: number[];
  sum: number;
}

/** Histogram of durations in seconds. */
export class Histogram {
  readonly #name: string;
  readonly #help: string;
  readonly #bounds: readonly number[];
  readonly #counted = new Map<string, Counted>();

  /** @param bounds of the buckets, in seconds, ascending. */
  constructor(name: string, help: string, bounds: readonly number[]) {
    this.#name = name;
    this.#help = help;
    this.#bounds = bounds;
  }

  /** @param labels with few values, such as routes and outcomes, because every combination is kept. */
  observe(seconds: number, labels: Readonly<Record<string, string>>): void {
    const key = JSON.stringify(labels);
    const counted = this.#counted.get(key) ?? { labels, counts: this.#bounds.map(() => 0).concat(0), sum: 0 };
    this.#counted.set(key, counted);
    const found = this.#bounds.findIndex((bound) => seconds <= bound);
    const at = found < 0 ? this.#bounds.length : found;
    counted.counts[at] = (counted.counts[at] ?? 0) + 1;
    counted.sum += seconds;
  }

  family(): Family {
    const samples = [...this.#counted.values()].flatMap((counted) => this.#samplesOf(counted));
    return { name: this.#name, help: this.#help, type: 'histogram', samples };
  }

  #samplesOf({ labels, counts, sum }: Counted): MetricSample[] {
    let total = 0;
    const buckets = counts.map((count, at): MetricSample => {
      total += count;
      const bound = this.#bounds[at];
      return { suffix: '_bucket', labels: { ...labels, le: bound === undefined ? '+Inf' : `${bound}` }, value: total };
    });
    return [...buckets, { suffix: '_sum', labels, value: sum }, { suffix: '_count', labels, value: total }];
  }
}
