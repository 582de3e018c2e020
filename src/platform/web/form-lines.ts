/** The lines of a field of several lines, without empty ones. */
export function linesOfField(given: unknown): string[] {
  const lines = String(given ?? '').split(/\r?\n/);
  return lines.map((line) => line.trim()).filter((line) => line !== '');
}

/** A field that was left empty says nothing. */
export function emptyAsNone(given: unknown): unknown {
  return given === '' ? undefined : given;
}
