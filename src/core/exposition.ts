/** Number of a family, with labels that distinguish it from the others. No label is text from a caller. */
export interface MetricSample {
  labels?: Readonly<Record<string, string>>;
  /** Suffix of the family's name, e.g. `_bucket`. */
  suffix?: string;
  value: number;
}

/** Numbers of one kind. Times and durations are in seconds, sizes in bytes. */
export interface Family {
  name: string;
  help: string;
  type: 'counter' | 'gauge' | 'histogram';
  samples: readonly MetricSample[];
}

/** Returns the current numbers. */
export type Collect = () => readonly Family[] | Promise<readonly Family[]>;

/** Returns a family of one number, or of several. */
export function counter(name: string, help: string, value: number | readonly MetricSample[]): Family {
  return { name, help, type: 'counter', samples: samplesOf(value) };
}

export function gauge(name: string, help: string, value: number | readonly MetricSample[]): Family {
  return { name, help, type: 'gauge', samples: samplesOf(value) };
}

function samplesOf(value: number | readonly MetricSample[]): readonly MetricSample[] {
  return typeof value === 'number' ? [{ value }] : value;
}

/** Content type of the exposition, https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format */
export const EXPOSITION = 'text/plain; version=0.0.4; charset=utf-8';

export function toExposition(families: readonly Family[]): string {
  const lines = families.flatMap(({ name, help, type, samples }) => [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} ${type}`,
    ...samples.map((sample) => `${name}${sample.suffix ?? ''}${labelsOf(sample)} ${sample.value}`),
  ]);
  return `${lines.join('\n')}\n`;
}

const ESCAPES: Record<string, string> = { '\\': '\\\\', '"': '\\"', '\n': '\\n' };

function labelsOf({ labels = {} }: MetricSample): string {
  const pairs = Object.entries(labels).map(
    ([name, value]) => `${name}="${value.replace(/[\\"\n]/g, (sign) => ESCAPES[sign] ?? sign)}"`,
  );
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}
