import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addZone, readZone } from '../../../src/platform/audit/entry-index.ts';
import type { Transaction } from '../../../src/platform/database/database.ts';
import { SERVICES } from '../service.ts';
import { EARLIER } from './edits/earlier.ts';
import { foundAfter, run } from './edits/editing.ts';
import { AT_USE, EXPECTED, editedTable, NAMED, REFUSED, TABLE_NAMES } from './edits/expected.ts';
import { type EditedPlace, openEdited } from './edits/place.ts';
import { deleteRow, insertCopy, updateColumn } from './edits/rows.ts';

describe.each(SERVICES)('an edit on %s', (_name, start) => {
  let place: EditedPlace;
  beforeAll(async () => {
    place = await openEdited(start);
    const { database } = place.parts;
    // No entry follows, so that the index may have a zone that is not complete.
    await addZone(database, await readZone(database, 0));
  });
  afterAll(() => place.close());

  test('is found only if there is one', async () => {
    expect(await foundAfter(place.parts, async () => {})).toEqual([]);
  });

  test.each(TABLE_NAMES)('of %s is found as expected, or named', async (name) => {
    const table = editedTable(name);
    const expected: Record<string, string> = { ...EXPECTED[name].update };
    const found: Record<string, string> = {};
    for (const column of Object.keys(table.columns))
      found[column] = expected[column] === AT_USE ? AT_USE : await told((at) => updateColumn(at, table, column));
    found['a removed row'] = await told((at) => deleteRow(at, table));
    found['an added row'] = await told((at) => insertCopy(at, table));
    const { delete: removed, insert: added } = EXPECTED[name];
    expect(found).toEqual({ ...expected, 'a removed row': removed, 'an added row': added });
  });

  async function told(edit: Parameters<typeof foundAfter>[1]): Promise<string> {
    const found = await foundAfter(place.parts, edit).catch((error: Error) => [refusal(error)]);
    return found.join(' ') || NAMED;
  }

  test('of the terms of a block of the index is found', async () => {
    const edits = {
      sqlite: "INSERT INTO entry_terms (entry_terms) VALUES ('delete-all')",
      postgres: 'UPDATE entry_terms SET terms = terms[2:] WHERE block = 1',
    };
    const edit = (transaction: Transaction) => run(transaction, edits[place.parts.database.dialect]);
    expect(await foundAfter(place.parts, edit)).toEqual(['index_mismatch']);
  });

  test.each([
    ['json_sha256', '/json'],
    ['json_seal', '/json'],
    ['pdf', '/pdf'],
    ['pdf_seal', '/pdf'],
  ])('of the %s of a package is found when the package is downloaded', async (column, form) => {
    const { body } = await place.service.call('POST', '/evidence/generate', { stream_id: 's' });
    const path = `/evidence/${body.package_id}${form}`;
    expect((await place.service.call('GET', path)).status).toBe(200);
    const table = { ...editedTable('packages'), row: { package_id: body.package_id } };
    await place.parts.database.write((transaction) => updateColumn(transaction, table, column));
    const answer = await place.service.call('GET', path);
    expect([answer.status, answer.body.code]).toEqual([409, 'package_damaged']);
  });
});

test('what nothing finds is named in `help tampering`, with the reason, and nothing else is', async () => {
  const help = await readFile('templates/help/platform/tampering.md', 'utf8');
  const rows = help.matchAll(/^\| ([a-z, ]+) \| (`[^|]+`) \| \S[^|]+ \|$/gm);
  const named = [...rows].flatMap(([, kinds = '', names = '']) =>
    kinds.split(', ').flatMap((kind) => names.split(', ').map((name) => `${kind}: ${name.replaceAll('`', '')}`)),
  );
  expect(named.sort()).toEqual([...TABLE_NAMES.flatMap(namedEdits), ...namedEarlier()].sort());
});

/** Returns the edits of a table that nothing finds; edits of all columns as one. */
function namedEdits(table: (typeof TABLE_NAMES)[number]): string[] {
  const { update, delete: removed, insert: added } = EXPECTED[table];
  const columns = Object.entries(update).filter(([, found]) => found === NAMED);
  const isWhole = columns.length === Object.keys(update).length;
  return [
    ...(isWhole ? [`changed: ${table}`] : columns.map(([column]) => `changed: ${table}.${column}`)),
    ...(removed === NAMED ? [`removed: ${table}`] : []),
    ...(added === NAMED ? [`added: ${table}`] : []),
  ];
}

function namedEarlier(): string[] {
  return EARLIER.flatMap(({ table, found }) => (found === NAMED ? [`put back: ${table}`] : []));
}

/** @throws the error, unless it is the refusal of a database. */
function refusal(error: Error): string {
  if (/constraint/.test(error.message)) return REFUSED;
  throw error;
}
