/** Returns a function that makes a value on its first call, and returns the same one from then on. */
export function lazy<T>(make: () => T): () => T {
  let made: { value: T } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
