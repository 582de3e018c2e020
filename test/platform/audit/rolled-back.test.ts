import { describe, expect, test } from 'vitest';
import { entry, fill, SERVICES, type Service } from '../service.ts';

const COLUMNS = `entry_count, head_sequence, head_hash, last_entry_at, checkpoint_count, anchored_count, verification_count,
  package_count, seal_epoch, head_seal`;
const NUMBER = "(SELECT stream_no FROM streams WHERE stream_id = 's')";
/** Removes what protects entries, whichever database it is. */
const UNLOCK: Record<string, string> = {
  SQLite: 'DROP TRIGGER entries_no_update; DROP TRIGGER entries_no_delete;',
  PostgreSQL: 'DROP TRIGGER entries_never_changed ON entries;',
};
const KEEP = `CREATE TABLE kept AS SELECT * FROM streams WHERE stream_id = 's';
  CREATE TABLE kept_hours AS SELECT * FROM entry_hours;
  CREATE TABLE kept_sums AS SELECT * FROM head_sums;`;
const PUT_BACK = `DELETE FROM entries WHERE stream_no = ${NUMBER} AND sequence > 10;
  UPDATE streams SET (${COLUMNS}) = (SELECT ${COLUMNS} FROM kept) WHERE stream_id = 's';`;
const HOURS_BACK = `DELETE FROM entry_hours WHERE stream_no = ${NUMBER};
  INSERT INTO entry_hours SELECT * FROM kept_hours WHERE stream_no = ${NUMBER};`;
const SUMS_BACK = 'DELETE FROM head_sums; INSERT INTO head_sums SELECT * FROM kept_sums;';

describe.each(SERVICES)('a stream that was put back to an older state on %s', (name, start) => {
  /** Returns the codes of the failures of two streams, after an attack on the first. */
  async function verifiedAfter(attack: (service: Service) => Promise<unknown>): Promise<string[][]> {
    const service = await start();
    try {
      await fill(service, 's', 10);
      await fill(service, 'other', 5);
      await service.sql(KEEP);
      await fill(service, 's', 3);
      await fill(service, 'other', 1);
      expect(await failuresOf(service)).toEqual([[], []]);
      await service.sql(UNLOCK[name] ?? '');
      await attack(service);
      return await failuresOf(service);
    } finally {
      await service.close();
    }
  }

  async function failuresOf({ call }: Service): Promise<string[][]> {
    const answers = await Promise.all(['s', 'other'].map((stream) => call('POST', `/streams/${stream}/verify`)));
    return answers.map(({ body }) => body.failures?.map(({ code }: { code: string }) => code) ?? [body.code]);
  }

  const attacks: [string, string | ((service: Service) => Promise<unknown>), string[]][] = [
    ['with its head', PUT_BACK, ['hour_mismatch', 'heads_mismatch']],
    ['with its head and its numbers by hour', PUT_BACK + HOURS_BACK, ['heads_mismatch']],
    ['with the sum of all heads', PUT_BACK + HOURS_BACK + SUMS_BACK, ['heads_mismatch']],
    ['without any sum', `${PUT_BACK + HOURS_BACK} DELETE FROM head_sums;`, ['heads_mismatch']],
    ['with a sum that was computed from the seals', withComputedSum, ['heads_mismatch']],
    ['while another seal makes up for it', withSealThatMakesUp, ['heads_mismatch']],
    ['while the seal of an added row makes up for it', withAddedRow, ['heads_mismatch']],
    [
      'and grew again',
      async ({ sql, call }) => {
        await sql(PUT_BACK + HOURS_BACK);
        for (let number = 1; number <= 3; number++) await call('POST', '/entries/', entry('s', number));
      },
      ['heads_mismatch'],
    ],
  ];

  test.each(attacks)('%s is found, also by the check of another stream', async (_name, attack, codes) => {
    const [own, other] = await verifiedAfter(async (service) =>
      typeof attack === 'string' ? service.sql(attack) : attack(service),
    );
    expect(own).toEqual(codes);
    expect(other).toEqual(['heads_mismatch']);
  });

  test('is found by the check of another stream if all its rows are gone', async () => {
    const tables = ['verifications', 'entry_hours', 'entries', 'streams'];
    const [own, other] = await verifiedAfter(({ sql }) =>
      sql(
        `UPDATE streams SET verification_no = NULL WHERE stream_id = 's';
        ${tables.map((table) => `DELETE FROM ${table} WHERE stream_no = ${NUMBER};`).join('')}`,
      ),
    );
    expect(own).toEqual(['not_found']);
    expect(other).toEqual(['heads_mismatch']);
  });

  test('is found if its head has another seal', async () => {
    const [own, other] = await verifiedAfter(({ sql }) =>
      sql(`UPDATE streams SET head_seal = '${'f'.repeat(64)}' WHERE stream_id = 's'`),
    );
    expect(own).toEqual(['head_seal_mismatch', 'heads_mismatch']);
    expect(other).toEqual(['heads_mismatch']);
  });
});

/** Puts the stream back, and changes the seal of a third stream by as much as its own changed. */
async function withSealThatMakesUp(service: Service): Promise<void> {
  await fill(service, 'third', 1);
  await service.sql(`${PUT_BACK + HOURS_BACK}
    UPDATE streams SET head_seal = '${await makingUp(service, 'third')}' WHERE stream_id = 'third';`);
}

/** Puts the stream back, and adds the row of a stream with the difference as its seal. */
async function withAddedRow(service: Service): Promise<void> {
  const seal = await makingUp(service);
  await service.sql(`${PUT_BACK + HOURS_BACK}
    INSERT INTO streams (stream_id, likeness, created_at, ${COLUMNS})
      SELECT 'added', 'added', created_at, ${COLUMNS} FROM kept;
    UPDATE streams SET head_seal = '${seal}' WHERE stream_id = 'added';`);
}

/** Returns the seal that leaves the sum of all seals as it was before the stream is put back. @param of its stream. */
async function makingUp({ sql }: Service, of = 'none'): Promise<string> {
  const one = async (query: string) => BigInt(`0x${(await sql(query)).trim() || '0'}`);
  const now = await one("SELECT head_seal FROM streams WHERE stream_id = 's';");
  const before = await one('SELECT head_seal FROM kept;');
  return hexOf((await one(`SELECT head_seal FROM streams WHERE stream_id = '${of}';`)) + now - before);
}

const MODULUS = 1n << 256n;

function hexOf(sum: bigint): string {
  return (((sum % MODULUS) + MODULUS) % MODULUS).toString(16).padStart(64, '0');
}

/** Puts the stream back, and the sum too: by the difference of the seals, which is all that it takes but a seal. */
async function withComputedSum({ sql }: Service): Promise<void> {
  const one = async (query: string) => (await sql(query)).trim();
  const now = await one("SELECT head_seal FROM streams WHERE stream_id = 's';");
  const before = await one('SELECT head_seal FROM kept;');
  const sum = await one('SELECT sum FROM head_sums WHERE lane = 0;');
  const text = hexOf(BigInt(`0x${sum}`) + BigInt(`0x${before}`) - BigInt(`0x${now}`));
  await sql(`${PUT_BACK + HOURS_BACK} UPDATE head_sums SET sum = '${text}' WHERE lane = 0;`);
}
