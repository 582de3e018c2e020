import type { Family, MetricSample } from '../../core/exposition.ts';

interface Counted {
  labels: Readonly<Record<string, string>>;
  /** By bucket, each with those of the ones before it left out; the last is for what is in none of them. */
  counts: number[];
  sum: number;
}

/** Durations, in seconds. */
export class Histogram {
  readonly #name: string;
  readonly #help: string;
  readonly #bounds: readonly number[];
  readonly #counted = new Map<string, Counted>();

  /** @param bounds of the buckets, in seconds, rising. */
  constructor(name: string, help: string, bounds: readonly number[]) {
    this.#name = name;
    this.#help = help;
    this.#bounds = bounds;
  }

  /** @param labels as few as there are routes and outcomes: each of their combinations is kept. */
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
