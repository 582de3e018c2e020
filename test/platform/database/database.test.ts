import { type Generated, sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Columns, type Database, InTheWay, type Transaction } from '../../../src/platform/database/database.ts';
import { type Migrations, migrate } from '../../../src/platform/database/migration.ts';
import { DATABASES, type DatabasePlace, startPostgresPlace, startSqlitePlace } from './databases.ts';

interface Tables {
  things: { ordinal: Generated<number>; name: string; size: number | null; bytes: Uint8Array | null };
  facts: { fact: string };
}

const MIGRATIONS: Migrations = {
  'things/0001': ({ text, integer, bytes, ordinal, end }) => [
    `CREATE TABLE things (ordinal ${ordinal}, name ${text} NOT NULL UNIQUE, size ${integer}, bytes ${bytes}) ${end}`,
  ],
  'facts/0001': ({ text, end, appendOnly }) => [
    `CREATE TABLE facts (fact ${text} PRIMARY KEY) ${end}`,
    ...appendOnly('facts', [['fact']]),
  ],
};

const COLUMNS: Columns = { name: 'text', size: 'integer', bytes: 'bytes' };

describe.each(DATABASES)('%s', (_name, start) => {
  let place: DatabasePlace;
  beforeAll(async () => {
    place = await start();
  });
  afterAll(() => place.close());

  async function filled(names: readonly string[] = []) {
    const made = await place.create();
    await migrate(made.database, MIGRATIONS);
    await addThings(made.database, names);
    return made;
  }

  const addThings = (database: Database, names: readonly string[]) =>
    database.write((transaction) =>
      transaction.insertAll(
        'things',
        COLUMNS,
        names.map((name, size) => ({ name, size, bytes: Buffer.from(name) })),
      ),
    );
  const things = (database: Database) =>
    database.tables<Tables>().selectFrom('things').selectAll().orderBy('ordinal').execute();
  const namesOf = async (database: Database) => (await things(database)).map(({ name }) => name);

  test('what is written is there for everybody once that resolves', async () => {
    const { database, open } = await filled(['a', 'b']);
    const rows = await things(open());
    expect(rows.map(({ name, size }) => [name, size])).toEqual([
      ['a', 0],
      ['b', 1],
    ]);
    expect(Buffer.from(rows[1]?.bytes ?? []).toString()).toBe('b');
    expect((rows[1]?.ordinal ?? 0) > (rows[0]?.ordinal ?? 0)).toBe(true);
    expect(await namesOf(database)).toEqual(['a', 'b']);
  });

  test('of a transaction that throws there is nothing', async () => {
    const { database } = await filled(['a']);
    const failing = database.write(async (transaction) => {
      await transaction.insertAll('things', COLUMNS, [{ name: 'b', size: 1, bytes: null }]);
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(await namesOf(database)).toEqual(['a']);
  });

  test('nobody reads what is not committed', async () => {
    const { database } = await filled(['a']);
    await database.write(async (transaction) => {
      await transaction.insertAll('things', COLUMNS, [{ name: 'b', size: 1, bytes: null }]);
      expect(await namesOf(database)).toEqual(['a']);
      expect(await transaction.tables<Tables>().selectFrom('things').select('name').execute()).toHaveLength(2);
    });
    expect(await namesOf(database)).toEqual(['a', 'b']);
  });

  test('a snapshot stays as it was', async () => {
    const { database } = await filled(['a']);
    await database.snapshot(async (reader) => {
      const count = () => reader.tables<Tables>().selectFrom('things').select('name').execute();
      expect(await count()).toHaveLength(1);
      await addThings(database, ['b']);
      expect(await count()).toHaveLength(1);
    });
    expect(await namesOf(database)).toEqual(['a', 'b']);
  });

  test('a prepared query is answered with what is committed, whoever did it and whatever is read beside it', async () => {
    const { database, open } = await filled(['a']);
    const things = database.tables<Tables>().selectFrom('things').select(['name', 'size']);
    const ask = database.prepare(things.where('name', '=', 'none').where('size', '>=', -1));
    const answers = () => Promise.all([ask('a', 0), ask('a', 1), ask('b', 0)]);
    expect(await answers()).toEqual([{ name: 'a', size: 0 }, undefined, undefined]);
    const change = (size: number) =>
      open().write((transaction) =>
        transaction.updateAll('things', { name: 'text', size: 'integer' }, [{ name: 'a', size }]),
      );
    await change(1);
    expect((await answers())[1]).toEqual({ name: 'a', size: 1 });
    await database.snapshot(async (reader) => {
      await reader.tables<Tables>().selectFrom('things').select('name').execute();
      await change(2);
      expect(await ask('a', 2)).toEqual({ name: 'a', size: 2 });
    });
    await database.write(async (transaction) => {
      await transaction.updateAll('things', { name: 'text', size: 'integer' }, [{ name: 'a', size: 3 }]);
      expect(await ask('a', 0)).toEqual({ name: 'a', size: 2 });
    });
    expect(await ask('a', 0)).toEqual({ name: 'a', size: 3 });
  });

  test('rows are changed by their first column, and no others are', async () => {
    const { database } = await filled(['a', 'b', 'c']);
    await database.write((transaction) =>
      transaction.updateAll('things', { name: 'text', size: 'integer' }, [
        { name: 'a', size: 10 },
        { name: 'c', size: null },
      ]),
    );
    expect((await things(database)).map(({ size }) => size)).toEqual([10, 1, null]);
  });

  test('nothing to write is written', async () => {
    const { database } = await filled(['a']);
    await database.write(async (transaction) => {
      await transaction.insertAll('things', COLUMNS, []);
      await transaction.updateAll('things', COLUMNS, []);
    });
    expect(await namesOf(database)).toEqual(['a']);
  });

  test('transactions that read before they write do not lose what others wrote, in one process or in several', async () => {
    const { database, open } = await filled();
    await addThings(database, ['counter']);
    const others = [database, open(), open()];
    const addOne = (one: Database) =>
      one.write(async (transaction) => {
        const row = await transaction
          .tables<Tables>()
          .selectFrom('things')
          .select('size')
          .where('name', '=', 'counter')
          .modifyEnd(transaction.sql.locked)
          .executeTakeFirstOrThrow();
        await transaction.updateAll('things', { name: 'text', size: 'integer' }, [
          { name: 'counter', size: (row.size ?? 0) + 1 },
        ]);
      });
    await Promise.all(Array.from({ length: 60 }, (_, index) => addOne(others[index % 3] as Database)));
    expect((await things(database))[0]?.size).toBe(60);
  });

  test('a sum is a number', async () => {
    const { database } = await filled(['a', 'b', 'c']);
    const sums = database
      .tables<Tables>()
      .selectFrom('things')
      .select(({ fn }) => fn.sum<number>('size').as('sum'));
    expect(await sums.execute()).toEqual([{ sum: 3 }]);
  });

  test('text is compared byte by byte', async () => {
    const names = ['Z', 'a', 'ß', 'zz', '\u{1f600}', '\uffee', ' ', 'A b', 'a-b', 'ab'];
    const { database } = await filled(names);
    const sorted = await database.tables<Tables>().selectFrom('things').select('name').orderBy('name').execute();
    const byBytes = names.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    expect(sorted.map(({ name }) => name)).toEqual(byBytes);
  });

  test('one of many values is found, however it is spelt', async () => {
    const names = ['plain', 'with "quotes"', "it's", 'back\\slash', '{brace,comma}', 'NULL', 'ü', ''];
    const { database } = await filled([...names, 'another']);
    const { isAmong } = database.sql;
    const found = database.tables<Tables>().selectFrom('things').select('name').where(isAmong('name', names));
    expect((await found.execute()).map(({ name }) => name).sort()).toEqual(names.toSorted());
    const none = database.tables<Tables>().selectFrom('things').select('name').where(isAmong('name', []));
    expect(await none.execute()).toEqual([]);
  });

  test('texts become JSON as ours do, for every code point that can be stored', async () => {
    const { database } = await filled();
    const points = Array.from({ length: 0x110000 - 1 }, (_, at) => at + 1).filter((at) => at < 0xd800 || at > 0xdfff);
    const texts = Array.from({ length: Math.ceil(points.length / 4096) }, (_, at) =>
      String.fromCodePoint(...points.slice(at * 4096, at * 4096 + 4096)),
    );
    const { json } = database.sql;
    for (const text of texts) {
      const { rows } = await sql<{ json: string }>`SELECT ${json(sql`CAST(${text} AS text)`)} AS json`.execute(
        database.tables<Tables>(),
      );
      expect(rows[0]?.json === JSON.stringify(text)).toBe(true);
    }
  });

  test('texts of many rows are joined in the order of a column', async () => {
    const names = Array.from({ length: 1000 }, (_, index) => `n${(index * 7919) % 1000}`);
    const { database } = await filled(names);
    const rows = database.tables<Tables>().selectFrom('things').select(['ordinal', 'name']).orderBy('ordinal');
    const { text } = await database
      .tables<Tables>()
      .selectFrom(rows.as('rows'))
      .select(database.sql.joined(sql.ref<string>('name'), 'ordinal').as('text'))
      .executeTakeFirstOrThrow();
    expect(Buffer.from(text).toString()).toBe(names.join(''));
  });

  test.each([
    ["UPDATE facts SET fact = 'other'", 'changed'],
    ['DELETE FROM facts', 'removed'],
  ])('what is only ever added to refuses: %s', async (statement) => {
    const { database, query } = await filled();
    await database.write((transaction) => transaction.insertAll('facts', { fact: 'text' }, [{ fact: 'true' }]));
    await expect(query(statement)).rejects.toThrow(/facts are never changed/);
    expect(await database.tables<Tables>().selectFrom('facts').selectAll().execute()).toEqual([{ fact: 'true' }]);
  });

  test('migrations of several processes at once are carried out once, and again they do nothing', async () => {
    const { database, open } = await place.create();
    await Promise.all([database, open(), open()].map((one) => migrate(one, MIGRATIONS)));
    await addThings(database, ['a']);
    await migrate(database, MIGRATIONS);
    expect(await namesOf(database)).toEqual(['a']);
  });

  test('of migrations of which one fails nothing is there', async () => {
    const { database } = await place.create();
    const broken: Migrations = { ...MIGRATIONS, 'things/0002': () => ['CREATE TABLE more (x text)', 'NO STATEMENT'] };
    await expect(migrate(database, broken)).rejects.toThrow('the database could not be migrated');
    await migrate(database, MIGRATIONS);
    await addThings(database, ['a']);
    expect(await namesOf(database)).toEqual(['a']);
  });

  test('a step of another module that came later is carried out too', async () => {
    const { database } = await filled(['a']);
    await migrate(database, { ...MIGRATIONS, 'earlier/0001': () => ['CREATE TABLE earlier (x text)'] });
    expect(await namesOf(database)).toEqual(['a']);
    await sql`SELECT x FROM earlier`.execute(database.tables<Tables>());
  });

  test('a database of a newer version is refused', async () => {
    const { database } = await place.create();
    await migrate(database, { ...MIGRATIONS, 'things/0009': () => ['CREATE TABLE newer (x text)'] });
    await expect(migrate(database, MIGRATIONS)).rejects.toMatchObject({ code: 'unreadable' });
  });
});

describe('PostgreSQL alone', () => {
  let place: DatabasePlace;
  beforeAll(async () => {
    place = await startPostgresPlace();
  });
  afterAll(() => place.close());

  test('a transaction that another one was in the way of runs again from its beginning', async () => {
    const { database } = await place.create();
    await migrate(database, MIGRATIONS);
    let attempts = 0;
    await database.write(async (transaction) => {
      await transaction.insertAll('facts', { fact: 'text' }, [{ fact: `attempt ${++attempts}` }]);
      if (attempts < 3) throw new InTheWay('not yet');
    });
    expect(await database.tables<Tables>().selectFrom('facts').selectAll().execute()).toEqual([{ fact: 'attempt 3' }]);
  });

  const addFact = (fact: string) => (transaction: Transaction) =>
    transaction.insertAll('facts', { fact: 'text' }, [{ fact }]);
  const factsOf = (database: Database) => database.tables<Tables>().selectFrom('facts').select('fact').execute();

  test('a connection that breaks fails its transaction alone', async () => {
    const { database, query } = await place.create();
    await migrate(database, MIGRATIONS);
    const broken = database.write(async (transaction) => {
      await addFact('broken')(transaction);
      const tables = transaction.tables<Tables>();
      const { rows } = await sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`.execute(tables);
      await query(`SELECT pg_terminate_backend(${rows[0]?.pid}, 5000)`);
      // The process needs a turn to notice that the connection is closed.
      await new Promise(setImmediate);
      await sql`SELECT 1`.execute(tables);
    });
    await expect(broken).rejects.toThrow('the database does not answer');
    await database.write(addFact('kept'));
    expect(await factsOf(database)).toEqual([{ fact: 'kept' }]);
  });

  test('a process that vanishes inside a transaction holds up no other', async () => {
    const { database, open } = await place.create();
    await migrate(database, MIGRATIONS);
    const { promise: held, resolve: isHeld } = Promise.withResolvers<void>();
    const { promise: returns, resolve: comeBack } = Promise.withResolvers<void>();
    const vanished = open().write(async (transaction) => {
      await addFact('same')(transaction);
      isHeld();
      await returns;
    });
    const failed = expect(vanished).rejects.toThrow('the database does not answer');
    await held;
    await database.write(addFact('same'));
    comeBack();
    await failed;
    expect(await factsOf(database)).toEqual([{ fact: 'same' }]);
  });

  test('a table is not emptied', async () => {
    const { database, query } = await place.create();
    await migrate(database, MIGRATIONS);
    await expect(query('TRUNCATE facts')).rejects.toThrow(/facts are never changed/);
  });
});

test('SQLite: no row is replaced', async () => {
  const place = await startSqlitePlace();
  try {
    const { database, query } = await place.create();
    await migrate(database, MIGRATIONS);
    await database.write((transaction) => transaction.insertAll('facts', { fact: 'text' }, [{ fact: 'true' }]));
    await expect(query("INSERT OR REPLACE INTO facts VALUES ('true')")).rejects.toThrow(/facts are never changed/);
  } finally {
    await place.close();
  }
});
