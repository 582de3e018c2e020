import { entriesOfStream } from '../audit/api.ts';
import type { Reader } from '../database/database.ts';
import type { CheckPlace, RowFinding } from '../open-module.ts';
import { ADMINISTRATION_STREAM } from './administration.ts';
import { limitsOf } from './api-keys.ts';
import { type ReplayedKey, type ReplayedPerson, replayAccounts } from './replay.ts';
import { SEALED } from './sealed-rows.ts';
import type { AccountTables } from './tables.ts';

/** Checks the seals of the rows that give power, and that API keys and people follow from the recorded acts. */
export async function* checkAccounts({ database }: CheckPlace): AsyncGenerator<RowFinding> {
  const findings = await database.snapshot(async (reader) => [
    ...(await unsealedRows(reader)),
    ...(await replayedRows(reader)),
  ]);
  yield* findings;
}

async function unsealedRows(reader: Reader): Promise<RowFinding[]> {
  const findings: RowFinding[] = [];
  for (const { table, key, rows } of SEALED)
    for (const row of await reader
      .tables<Record<string, Record<string, unknown>>>()
      .selectFrom(table)
      .selectAll()
      .execute())
      if (!rows.isWhole(reader, row as never))
        findings.push({ code: 'row_seal_mismatch', of: `${table} ${String(row[key])}` });
  return findings;
}

async function replayedRows(reader: Reader): Promise<RowFinding[]> {
  const tables = reader.tables<AccountTables>();
  const expected = await replayAccounts(entriesOfStream(reader, ADMINISTRATION_STREAM));
  const keys = await tables.selectFrom('api_keys').selectAll().execute();
  const people = await tables.selectFrom('people').select(['person_id', 'role', 'disabled_at']).execute();
  return [
    ...comparedRows('API key', expected.keys, new Map(keys.map((row) => [row.key_id, keyFacts(row)]))),
    ...comparedRows('person', expected.people, new Map(people.map((row) => [row.person_id, personFacts(row)]))),
  ];
}

function keyFacts(row: AccountTables['api_keys']): ReplayedKey {
  const { name, expires_at, bound_to, revoked_at } = row;
  return {
    name,
    scopes: row.scopes.split(' '),
    expires_at,
    bound_to,
    ...limitsOf(row),
    is_revoked: revoked_at !== null,
  };
}

function personFacts({ role, disabled_at }: Pick<AccountTables['people'], 'role' | 'disabled_at'>): ReplayedPerson {
  return { role, is_disabled: disabled_at !== null };
}

/** Compares rows with what follows from acts. A row without acts is judged by its seal alone. */
function comparedRows<Facts extends object>(
  kind: string,
  expected: ReadonlyMap<string, Facts & { entry: number }>,
  actual: ReadonlyMap<string, Facts>,
): RowFinding[] {
  return [...expected].flatMap(([id, { entry, ...due }]): RowFinding[] => {
    const row = actual.get(id);
    const because = `of entry ${entry} of ${ADMINISTRATION_STREAM}`;
    if (row === undefined) return [{ code: 'row_missing', of: `${kind} ${id} ${because}` }];
    return Object.entries(due).flatMap(([member, value]) => {
      const [is, should] = [row[member as keyof Facts], value].map((each) => JSON.stringify(each));
      if (is === should) return [];
      const of = `${member} ${because}, in ${kind} ${id}`;
      return [{ code: 'row_contradicted', of, expected: should, actual: is }];
    });
  });
}
