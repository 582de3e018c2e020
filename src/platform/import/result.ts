export interface StreamTally {
  /** Entries that this run recorded. */
  created: number;
  /** Entries that the service already had, for the same event under the same key. */
  repeated: number;
}

export interface ImportResult {
  streams: Map<string, StreamTally>;
  created: number;
  repeated: number;
  /** Numbers of records that were read but not recorded, by reason. */
  skipped: { reason: string; count: number }[];
  /** Notes about recorded or missing events, as sentences. */
  notes: string[];
}

/** Progress of an import. */
export class ImportTally {
  readonly #streams = new Map<string, StreamTally>();
  readonly #skipped = new Map<string, number>();
  readonly #notes: string[] = [];

  recorded(streamId: string, created: number, repeated: number): void {
    const before = this.#streams.get(streamId) ?? { created: 0, repeated: 0 };
    this.#streams.set(streamId, { created: before.created + created, repeated: before.repeated + repeated });
  }

  skip(reason: string): void {
    this.#skipped.set(reason, (this.#skipped.get(reason) ?? 0) + 1);
  }

  note(sentence: string): void {
    this.#notes.push(sentence);
  }

  toResult(): ImportResult {
    const tallies = [...this.#streams.values()];
    return {
      streams: new Map(this.#streams),
      created: tallies.reduce((sum, tally) => sum + tally.created, 0),
      repeated: tallies.reduce((sum, tally) => sum + tally.repeated, 0),
      skipped: [...this.#skipped].map(([reason, count]) => ({ reason, count })),
      notes: [...this.#notes],
    };
  }
}

/** Returns the result as lines for a terminal: a row per stream, the totals, and the skipped records. */
export function toTable(result: ImportResult): string {
  const rows = [...result.streams]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([streamId, { created, repeated }]) => [printable(streamId), String(created), String(repeated)] as const);
  const total = ['total', String(result.created), String(result.repeated)] as const;
  const all = [['stream', 'recorded', 'existing'] as const, ...rows, total];
  const widths = [0, 1, 2].map((column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  const lines = all.map(([stream, created, repeated]) =>
    [stream.padEnd(widths[0] ?? 0), created.padStart(widths[1] ?? 0), repeated.padStart(widths[2] ?? 0)].join('  '),
  );
  for (const { reason, count } of result.skipped) lines.push(`not recorded: ${count} ${reason}`);
  return [...lines, ...result.notes].map((line) => `${line}\n`).join('');
}

/** Replaces control characters in a stream id, which is untrusted and must not control the terminal. */
function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, '\uFFFD');
}
