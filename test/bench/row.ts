/** A value with its unit. */
export interface Figure {
  value: number;
  unit: string;
}

/** Bound on the ratio, or on our own figure if there is no figure to compare with. */
export interface Goal {
  of: 'ratio' | 'ours';
  bound: '≥' | '≤';
  value: number;
}

export interface Measurement {
  /** Stable name of the row in the JSON output and in test/bench/expected.json. */
  id: string;
  what: string;
  ours: Figure;
  /** Figure of the limit or of the peer. */
  other: (Figure & { name: string }) | null;
  /** Ratio in the direction of the row's goal: how many times as fast, or how many times as much. */
  ratio: number | null;
  goal: Goal | null;
}

export interface Row extends Measurement {
  /** Null without a goal. */
  met: boolean | null;
}

export function toRow(measurement: Measurement): Row {
  const { goal, ratio, ours } = measurement;
  if (goal === null) return { ...measurement, met: null };
  const value = goal.of === 'ratio' ? ratio : ours.value;
  if (value === null || !Number.isFinite(value))
    throw new Error(`${measurement.id} has a goal for what was not measured`);
  return { ...measurement, met: goal.bound === '≥' ? value >= goal.value : value <= goal.value };
}

/** Compares two programs that did the same work. The ratio is the speed of ours relative to the other. */
export function speedRow(
  { id, what, atLeast }: { id: string; what: string; atLeast: number | null },
  ours: number,
  other: { name: string; seconds: number },
): Row {
  return toRow({
    id,
    what,
    ours: { value: ours, unit: 's' },
    other: { name: other.name, value: other.seconds, unit: 's' },
    ratio: other.seconds / ours,
    goal: atLeast === null ? null : { of: 'ratio', bound: '≥', value: atLeast },
  });
}

/** Compares peak memory, in MB. */
export function memoryRow(
  { id, what, atMost }: { id: string; what: string; atMost: number },
  ours: number,
  other: { name: string; peakMb: number } | null,
): Row {
  return toRow({
    id,
    what,
    ours: { value: ours, unit: 'MB' },
    other: other === null ? null : { name: other.name, value: other.peakMb, unit: 'MB' },
    ratio: other === null ? null : ours / other.peakMb,
    goal: { of: 'ours', bound: '≤', value: atMost },
  });
}
