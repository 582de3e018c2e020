import type { Box } from './geometry.ts';

/** Codes of pdf.js within a path. */
const [MOVE, LINE, CURVE, QUADRATIC, CLOSE] = [0, 1, 2, 3, 4];
/** Numbers that follow each code. */
const NUMBERS: Record<number, number> = { [MOVE]: 2, [LINE]: 2, [CURVE]: 6, [QUADRATIC]: 4, [CLOSE]: 0 };
/** Numbers of a path of five points that is closed. */
const RECTANGLE = 16;
/** A path of more is taken as a whole. */
const MAX_STROKES = 500;

/** Of straight lines between the corners of its bounds. @param data `[[code, x, y, code, x, y, …]]` */
export function isRectangle(data: unknown, bounds: Box | null): boolean {
  const numbers = toNumbers(data);
  if (bounds === null || numbers === null) return bounds === null;
  const { left, bottom, right, top } = bounds;
  const corners = new Set<string>();
  for (let at = 0; at < numbers.length; ) {
    const code = numbers[at] ?? -1;
    if (code === CLOSE) at++;
    else if (code === MOVE || code === LINE) {
      const [x = 0, y = 0] = numbers.subarray(at + 1, at + 3);
      if ((x !== left && x !== right) || (y !== bottom && y !== top)) return false;
      corners.add(`${x} ${y}`);
      at += 3;
    } else return false;
  }
  return numbers.length <= RECTANGLE && corners.size <= 4;
}

/** The boxes around each line and curve of a path: what lies within a frame is in none of them. */
export function strokesOf(data: unknown, bounds: Box): Box[] {
  const numbers = toNumbers(data);
  if (numbers === null) return [bounds];
  const strokes: Box[] = [];
  let [x, y, startX, startY] = [0, 0, 0, 0];
  for (let at = 0; at < numbers.length; ) {
    const code = numbers[at] ?? -1;
    const count = NUMBERS[code];
    if (count === undefined || strokes.length >= MAX_STROKES) return [bounds];
    const points = code === CLOSE ? [startX, startY] : [...numbers.subarray(at + 1, at + 1 + count)];
    const [toX = 0, toY = 0] = points.slice(-2);
    if (code === MOVE) [startX, startY] = [toX, toY];
    else strokes.push(around([x, y, ...points]));
    [x, y] = [toX, toY];
    at += 1 + count;
  }
  return strokes;
}

function around(points: readonly number[]): Box {
  const xs = points.filter((_, index) => index % 2 === 0);
  const ys = points.filter((_, index) => index % 2 === 1);
  return { left: Math.min(...xs), bottom: Math.min(...ys), right: Math.max(...xs), top: Math.max(...ys) };
}

function toNumbers(data: unknown): Float32Array | null {
  const [numbers] = Array.isArray(data) ? data : [];
  return numbers instanceof Float32Array ? numbers : null;
}
