/** A value as people read it. */
export interface Figure {
  value: number;
  unit: string;
}

/** What is wanted of the ratio, or of our own figure where there is nothing to hold it against. */
export interface Goal {
  of: 'ratio' | 'ours';
  bound: '≥' | '≤';
  value: number;
}

export interface Measurement {
  /** Stable: the JSON form and test/bench/expected.json name rows by it. */
  id: string;
  what: string;
  ours: Figure;
  /** The limit or the peer. */
  other: (Figure & { name: string }) | null;
  /** As the row's goal means it: how many times as fast where more is better, how many times as much where less is. */
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

/** Two programs that did the same work: the ratio is how many times as fast ours is. */
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

/** What a program holds at its peak, in MB. */
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
