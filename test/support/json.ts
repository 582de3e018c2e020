import type { Json } from '../../src/core/json/canonical.ts';

/** Arrays in arrays, `depth` of them. */
export function nested(depth: number): Json {
  let value: Json = [];
  for (let level = 1; level < depth; level++) value = [value];
  return value;
}

/** What a call throws; null when it returns. */
export function thrownBy(call: () => unknown): unknown {
  try {
    call();
  } catch (error) {
    return error;
  }
  return null;
}
