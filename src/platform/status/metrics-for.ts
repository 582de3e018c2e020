/** Readers of the metrics: whoever has a key with the scope, or who asks from this machine. */
export const METRICS_FOR = ['key', 'loopback'] as const;
export type MetricsFor = (typeof METRICS_FOR)[number];
