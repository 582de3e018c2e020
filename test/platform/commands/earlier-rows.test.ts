import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SERVICES } from '../service.ts';
import { EARLIER } from './edits/earlier.ts';
import { foundAfter } from './edits/editing.ts';
import { editedTable, NAMED } from './edits/expected.ts';
import { type EditedPlace, openEdited } from './edits/place.ts';
import { putBack, rowOf } from './edits/rows.ts';

describe.each(SERVICES)('a row that was put back on %s', (_name, start) => {
  let place: EditedPlace;
  beforeAll(async () => {
    place = await openEdited(start);
  });
  afterAll(() => place.close());

  test.each(EARLIER)('is found, or named: $what', async ({ table: name, row: of = {}, change, found }) => {
    const { parts } = place;
    const table = { ...editedTable(name), row: of };
    const before = await rowOf(parts.database, table);
    await change(place, before as never);
    expect(await foundAfter(parts, async () => {})).toEqual([]);
    const codes = await foundAfter(parts, (transaction) => putBack(transaction, table, before));
    expect(codes.join(' ') || NAMED).toBe(found);
  });
});
