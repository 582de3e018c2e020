import { entriesOfStream } from '../audit/api.ts';
import type { Reader } from '../database/database.ts';
import { pick } from '../database/table.ts';
import type { CheckPlace, RowFinding } from '../open-module.ts';
import { unsealedRows } from '../rows.ts';
import { ADMINISTRATION_STREAM } from './administration.ts';
import { type Replayed, type ReplayedKey, type ReplayedPerson, replayAccounts } from './replay.ts';
import { SEALED } from './sealed-rows.ts';
import type { AccountTables } from './tables.ts';

/** Checks the seals of the rows that give power, and that the rows follow from the recorded acts. */
export async function* checkAccounts({ database }: CheckPlace): AsyncGenerator<RowFinding> {
  const findings = await database.snapshot(async (reader) => [
    ...(await unsealedRows(reader, SEALED)),
    ...(await replayedRows(reader)),
  ]);
  yield* findings;
}

async function replayedRows(reader: Reader): Promise<RowFinding[]> {
  const tables = reader.tables<AccountTables>();
  const expected = await replayAccounts(entriesOfStream(reader, ADMINISTRATION_STREAM));
  const keys = await tables.selectFrom('api_keys').selectAll().execute();
  const people = await tables
    .selectFrom('people')
    .select(['person_id', ...PERSON])
    .execute();
  const passkeys = await tables.selectFrom('passkeys').select(['passkey_id', 'person_id']).execute();
  const links = await tables.selectFrom('links').select(['link_id', 'used_at']).execute();
  const signUps = await tables.selectFrom('sign_ups').select('sign_up_id').execute();
  const there = new Map(links.map(({ link_id, used_at }) => [link_id, { is_ended: used_at !== null }]));
  // An expired link is deleted without an act.
  const ended = new Map([...expected.links].filter(([id]) => there.has(id)));
  const waiting = new Map(signUps.map(({ sign_up_id }) => [sign_up_id, {}]));
  return [
    ...comparedRows('API key', expected.keys, new Map(keys.map((row) => [row.key_id, keyFacts(row)]))),
    ...comparedRows('person', expected.people, new Map(people.map((row) => [row.person_id, personFacts(row)]))),
    ...comparedRows('passkey', expected.passkeys, new Map(passkeys.map(({ passkey_id, ...row }) => [passkey_id, row]))),
    ...comparedRows('link', ended, there),
    ...comparedRows('sign-up', expected.signUps, waiting),
  ];
}

function keyFacts(row: AccountTables['api_keys']): ReplayedKey {
  const { scopes, revoked_at } = row;
  const members = pick(row, ['name', 'expires_at', 'bound_to', 'streams', 'actor']);
  return { ...members, scopes: scopes.split(' '), is_revoked: revoked_at !== null };
}

const PERSON = ['role', 'disabled_at', 'totp_secret', 'act'] as const;

function personFacts(row: Pick<AccountTables['people'], (typeof PERSON)[number]>): ReplayedPerson {
  const { role, disabled_at, totp_secret, act } = row;
  return { role, is_disabled: disabled_at !== null, has_authenticator: totp_secret !== null, act };
}

/** Compares rows with what follows from acts. A row without acts is judged by its seal alone. */
function comparedRows<Facts extends object>(
  kind: string,
  expected: ReadonlyMap<string, Replayed<Facts>>,
  actual: ReadonlyMap<string, Facts>,
): RowFinding[] {
  return [...expected].flatMap(([id, { entry, facts: due }]): RowFinding[] => {
    const row = actual.get(id);
    const because = `of entry ${entry} of ${ADMINISTRATION_STREAM}`;
    if (due === null) return row === undefined ? [] : [{ code: 'row_unrecorded', of: `${kind} ${id} ${because}` }];
    if (row === undefined) return [{ code: 'row_missing', of: `${kind} ${id} ${because}` }];
    return Object.entries(due).flatMap(([member, value]) => {
      const [is, should] = [row[member as keyof Facts], value].map((each) => JSON.stringify(each));
      if (is === should) return [];
      const of = `${member} ${because}, in ${kind} ${id}`;
      return [{ code: 'row_contradicted', of, expected: should, actual: is }];
    });
  });
}
