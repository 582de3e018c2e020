/** `[a b c d e f]` of ISO 32000-1 section 8.3.3. */
export type Matrix = readonly [number, number, number, number, number, number];

/** In points of the page as it is shown, y upwards. */
export interface Box {
  left: number;
  bottom: number;
  right: number;
  top: number;
}

export const IDENTITY: Matrix = [1, 0, 0, 1, 0, 0];
export const UNIT: Box = { left: 0, bottom: 0, right: 1, top: 1 };

/** What `inner` does first and `outer` then. */
export function multiply(outer: Matrix, inner: Matrix): Matrix {
  const [a, b, c, d, e, f] = outer;
  const [g, h, i, j, k, l] = inner;
  return [a * g + c * h, b * g + d * h, a * i + c * j, b * i + d * j, a * k + c * l + e, b * k + d * l + f];
}

/** Six numbers of any list, or null. */
export function toMatrix(list: unknown): Matrix | null {
  const numbers = toNumbers(list);
  const [a = Number.NaN, b = Number.NaN, c = Number.NaN, d = Number.NaN, e = Number.NaN, f = Number.NaN] = numbers;
  return [a, b, c, d, e, f].every(Number.isFinite) ? [a, b, c, d, e, f] : null;
}

/** `[left, bottom, right, top]`, or null. */
export function toBox(list: unknown): Box | null {
  const [left = Number.NaN, bottom = Number.NaN, right = Number.NaN, top = Number.NaN] = toNumbers(list);
  return [left, bottom, right, top].every(Number.isFinite) ? { left, bottom, right, top } : null;
}

/** The upright box around a box that is moved, turned or scaled. */
export function moved(matrix: Matrix, { left, bottom, right, top }: Box): Box {
  const [a, b, c, d, e, f] = matrix;
  const x = [a * left + c * bottom, a * left + c * top, a * right + c * bottom, a * right + c * top];
  const y = [b * left + d * bottom, b * left + d * top, b * right + d * bottom, b * right + d * top];
  return { left: Math.min(...x) + e, bottom: Math.min(...y) + f, right: Math.max(...x) + e, top: Math.max(...y) + f };
}

export function intersection(one: Box, other: Box): Box {
  return {
    left: Math.max(one.left, other.left),
    bottom: Math.max(one.bottom, other.bottom),
    right: Math.min(one.right, other.right),
    top: Math.min(one.top, other.top),
  };
}

/** Whether two boxes share more than an edge. */
export function overlaps(one: Box, other: Box): boolean {
  const { left, bottom, right, top } = intersection(one, other);
  return right - left > 0 && top - bottom > 0;
}

export function contains(outer: Box, inner: Box): boolean {
  return (
    outer.left <= inner.left && outer.bottom <= inner.bottom && outer.right >= inner.right && outer.top >= inner.top
  );
}

/** Whether a matrix leaves what is upright upright and unmirrored. */
export function isUpright([a, b, c, d]: Matrix): boolean {
  return a > 0 && d > 0 && Math.abs(b) <= 0.02 * a && Math.abs(c) <= 0.4 * d;
}

function toNumbers(list: unknown): number[] {
  return Array.isArray(list) || list instanceof Float32Array ? Array.from(list, Number) : [];
}
