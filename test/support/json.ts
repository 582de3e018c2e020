import type { Json } from '../../src/core/json/canonical.ts';

/** Nests `depth` arrays. */
export function nested(depth: number): Json {
  let value: Json = [];
  for (let level = 1; level < depth; level++) value = [value];
  return value;
}

/** Returns the error that a call throws; null if it returns. */
export function thrownBy(call: () => unknown): unknown {
  try {
    call();
  } catch (error) {
    return error;
  }
  return null;
}
