/** Returns the lines of a text field, without empty ones. */
export function linesOfField(given: unknown): string[] {
  const lines = String(given ?? '').split(/\r?\n/);
  return lines.map((line) => line.trim()).filter((line) => line !== '');
}

/** Treats an empty field as absent. */
export function emptyAsNone(given: unknown): unknown {
  return given === '' ? undefined : given;
}
