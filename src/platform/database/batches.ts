import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Yields rows in batches, in the order of a key, and yields to the event loop after each batch. Batches are never
 * empty.
 * @param first key below those of all rows.
 * @param read returns the next rows after a key, or none at the end.
 */
export async function* batches<Row, Key>(
  first: Key,
  keyOf: (row: Row) => Key,
  read: (after: Key) => Promise<Row[]>,
): AsyncGenerator<Row[]> {
  for (let after = first; ; ) {
    const rows = await read(after);
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows;
    after = keyOf(last);
    await nextTurn();
  }
}
