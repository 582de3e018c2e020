import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { probePostgres } from '../../../src/platform/traps/decoys/postgres/decoy.ts';
import { DecoyService, type Planted } from './decoy-service.ts';
import { nmapOf } from './nmap.ts';

let decoy: DecoyService;

beforeAll(async () => {
  decoy = await DecoyService.start('postgres');
});
afterAll(() => decoy.close());

const plant = (options = {}) => decoy.plant('db_connection_string', options);
/** Queries as an application would, with the address from its settings. */
const query = ({ run }: Planted, text: string, variables = {}) =>
  run('sh', ['-c', '. ./.env && exec psql --no-psqlrc -v VERBOSITY=verbose -c "$0" "$DATABASE_URL"', text], variables);

describe('psql', () => {
  test('with the planted address is logged in, and what it asks for is told', async () => {
    const trap = await plant();
    const { status, stderr } = await query(trap, 'select * from secrets.customers');
    expect([status, stderr]).toEqual([
      1,
      'ERROR:  42501: permission denied for table customers\nLOCATION:  aclcheck_error, aclchk.c:3655\n',
    ]);
    expect(await decoy.detections(trap.id)).toMatchObject([
      {
        channel: 'postgres',
        depth: 'used',
        severity: 'critical',
        auth_verified: true,
        occurrences: 2,
        source_ip: '127.0.0.1',
        user_agent: 'psql',
        service: 'postgresql',
        action: 'select * from secrets.customers',
      },
    ]);
  });

  test('with a password file needs no more than its names', async () => {
    const trap = await plant({ form: 'pgpass', database: 'orders' });
    const { host, port, user } = trap.credential;
    const asked = ['-h', `${host}`, '-p', `${port}`, '-U', `${user}`, '-d', 'orders', '-Atc', 'select current_user'];
    expect(await trap.run('psql', asked)).toMatchObject({ status: 0, stdout: `${user}\n` });
    expect(await decoy.detections(trap.id)).toMatchObject([{ depth: 'used', auth_verified: true }]);
  });

  test.each([
    ['\\dt', '', 'Did not find any relations.\n'],
    ['select datname from pg_catalog.pg_database', '', ''],
    ['select 7', '7\n', ''],
    ['show server_version', '15.20 (Debian 15.20-0+deb12u1)\n', ''],
    ['begin; drop table t; select 1', 'BEGIN\n', 'ERROR:  permission denied for table t\n'],
    ['hello', '', 'ERROR:  syntax error at or near "hello"\nLINE 1: hello\n        ^\n'],
    ['create role x', '', 'ERROR:  permission denied to create role\n'],
  ])('that says %s is answered', async (text, stdout, stderr) => {
    const { run } = await plant();
    const asked = ['-c', '. ./.env && exec psql --no-psqlrc -Atc "$0" "$DATABASE_URL"', text];
    expect(await run('sh', asked)).toMatchObject({ stdout, stderr });
  });

  test.each(['disable', 'require'])('with another password is refused as by a server (TLS: %s)', async (PGSSLMODE) => {
    const trap = await plant({ form: 'pgpass' });
    const { host, port, user, database } = trap.credential;
    const asked = ['-h', `${host}`, '-p', `${port}`, '-U', `${user}`, '-d', `${database}`, '-c', ''];
    const { status, stderr } = await trap.run('psql', asked, { PGSSLMODE, PGPASSWORD: 'guessed' });
    expect(status).toBe(2);
    expect(stderr).toMatch(new RegExp(`FATAL:  password authentication failed for user "${user}"\n$`));
    expect(await decoy.detections(trap.id)).toMatchObject([
      {
        depth: 'validated',
        severity: 'medium',
        auth_verified: false,
        occurrences: 1,
        user_agent: 'psql',
        action: `password authentication failed for user "${user}"`,
      },
    ]);
  });

  test('without a password tells that somebody knows the user', async () => {
    const trap = await plant();
    const { host, port, user, database } = trap.credential;
    await trap.run('psql', ['-w', `postgresql://${user}@${host}:${port}/${database}`]);
    await expect.poll(() => decoy.detections(trap.id)).toMatchObject([{ depth: 'validated', auth_verified: null }]);
  });

  test('of another database is told that there is none, after the password', async () => {
    const trap = await plant();
    const { host, port, user, password } = trap.credential;
    const { stderr } = await trap.run('psql', [`postgresql://${user}:${password}@${host}:${port}/hr`]);
    expect(stderr).toMatch(/FATAL: {2}database "hr" does not exist\n$/);
    expect(await decoy.detections(trap.id)).toMatchObject([{ depth: 'validated', auth_verified: true }]);
  });

  test('of a user that nobody made is refused alike, and leaves nothing', async () => {
    const trap = await plant();
    const before = await decoy.detections();
    const { host, port } = trap.credential;
    const { stderr } = await trap.run('psql', [`postgresql://postgres:x@${host}:${port}/postgres`]);
    expect(stderr).toMatch(/FATAL: {2}password authentication failed for user "postgres"\n$/);
    expect(await decoy.detections()).toEqual(before);
  });

  test.each(['revoke', 'rotate'] as const)('is told of after a %s too', async (act) => {
    const trap = await plant();
    await decoy.change(trap.id, act);
    await query(trap, 'select 1');
    expect(await decoy.detections(trap.id)).toMatchObject([{ depth: 'used', auth_verified: true }]);
  });
});

test('a marked use proves the channel, and is no detection', async () => {
  const trap = await plant();
  expect(await decoy.prove(trap.id)).toEqual([
    { channel: 'postgres', proved: true, outcome: 'The marked use was detected.' },
  ]);
  expect(await decoy.detections(trap.id)).toEqual([]);
});

test('two traps share nothing but the form', async () => {
  const [one, other] = (await Promise.all([plant(), plant()])).map(({ credential }) => credential);
  expect(one?.['user']).not.toBe(other?.['user']);
  expect(one?.['password']).not.toBe(other?.['password']);
  for (const credential of [one, other])
    expect(JSON.stringify(credential)).not.toMatch(/trap|canary|decoy|honey|evidence/i);
});

/** Tries a login with a wrong password, with the platform's own probe. */
async function refusedLogin(at: { host: string; port: number }, user: string): Promise<void> {
  const credential = { user, password: 'wrong', database: 'shop' };
  const login = probePostgres(at, { trapNo: 1, type: 'db_connection_string', credential }, 'x');
  await expect(login).rejects.toThrow('did not take a login');
}

/** Builds a startup packet: its length, then the parts. */
const packet = (...parts: (number | string)[]) => {
  const bytes = parts.map((part) => (typeof part === 'string' ? `${part}\0` : numbers(part)));
  return `${numbers(bytes.join('').length + 4)}${bytes.join('')}`;
};
const numbers = (value: number) =>
  String.fromCharCode(value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255);
const begin = packet(0x30000, 'user', 'nobody', 'database', 'shop', '');
const words = (text: string) => `p${numbers(22 + text.length)}SCRAM-SHA-256\0${numbers(text.length)}${text}`;
/** Builds an error of fields, each after its letter. */
const failure = (...fields: string[]) => {
  const body = `SFATAL\0VFATAL\0${fields.map((field) => `${field}\0`).join('')}\0`;
  return `E${numbers(body.length + 4)}${body}`;
};
const ASKED = 'R\0\0\0\x17\0\0\0\nSCRAM-SHA-256\0\0';

// Answers of PostgreSQL 15.20 on Debian 12 to the same bytes.
test.each<[string, string, string]>([
  ['HTTP', 'GET / HTTP/1.0\r\n\r\n', ''],
  ['a length of nothing', numbers(4), ''],
  ['a request to cancel', packet(80_877_102, 1, 2), ''],
  ['GSSAPI without a ticket', `${packet(80_877_104)}${numbers(4)}aaaa`, 'G'],
  [
    'an older protocol',
    packet(0x20000, ''),
    'EFATAL:  unsupported frontend protocol 2.0: server supports 3.0 to 3.0\n\0',
  ],
  [
    'a newer protocol',
    packet(0x40000, ''),
    failure(
      'C0A000',
      'Munsupported frontend protocol 4.0: server supports 3.0 to 3.0',
      'Fpostmaster.c',
      'L2220',
      'RProcessStartupPacket',
    ),
  ],
  [
    'no terminator',
    packet(0x30000, 'user'),
    failure(
      'C08P01',
      'Minvalid startup packet layout: expected terminator as last byte',
      'Fpostmaster.c',
      'L2332',
      'RProcessStartupPacket',
    ),
  ],
  [
    'no user',
    packet(0x30000, ''),
    failure(
      'C28000',
      'Mno PostgreSQL user name specified in startup packet',
      'Fpostmaster.c',
      'L2349',
      'RProcessStartupPacket',
    ),
  ],
  [
    'a query in the place of a password',
    `${begin}Q\0\0\0\x05\0`,
    ASKED + failure('C08P01', 'Mexpected SASL response, got message type 81', 'Fauth-sasl.c', 'L95', 'RCheckSASLAuth'),
  ],
  [
    'another mechanism',
    `${begin}p\0\0\0\x08MD5\0`,
    ASKED +
      failure(
        'C08P01',
        'Mclient selected an invalid SASL authentication mechanism',
        'Fauth-scram.c',
        'L256',
        'Rscram_init',
      ),
  ],
  [
    'a message that is too long',
    `${begin}p\xff\0\0\x08`,
    ASKED + failure('C28P01', 'Mpassword authentication failed for user "nobody"', 'Fauth.c', 'L334', 'Rauth_failed'),
  ],
  [
    'words of another language',
    begin + words('x,,n=,r=a'),
    ASKED +
      failure(
        'C08P01',
        'Mmalformed SCRAM message',
        'DUnexpected channel-binding flag "\'x\'".',
        'Fauth-scram.c',
        'L1025',
        'Rread_client_first_message',
      ),
  ],
  [
    'a use of somebody else',
    begin + words('n,a=b,n=,r=a'),
    ASKED +
      failure(
        'C0A000',
        'Mclient uses authorization identity, but it is not supported',
        'Fauth-scram.c',
        'L1036',
        'Rread_client_first_message',
      ),
  ],
])('%s is answered as PostgreSQL does', async (_, sent, answered) => {
  expect(await decoy.exchange(Buffer.from(sent, 'latin1'))).toBe(answered);
});

test('nmap calls it PostgreSQL', async () => {
  expect(await nmapOf([decoy.port])).toMatch(/open\s+postgresql\s+PostgreSQL DB/);
});

test('the salt of a user is always the same one, of whomever', async () => {
  const salts = await Promise.all(
    ['nobody', 'nobody', 'anybody'].map(async (user) => {
      const socket = await decoy.connect();
      socket.write(packet(0x30000, 'user', user, '') + words('n,,n=,r=abc'));
      await expect.poll(() => socket.heard).toContain('i=4096');
      socket.destroy();
      return /s=([^,]+)/.exec(socket.heard)?.[1];
    }),
  );
  expect(salts[0]).toMatch(/^[A-Za-z0-9+/]{22}==$/);
  expect([salts[0] === salts[1], salts[0] === salts[2]]).toEqual([true, false]);
});

test('TLS shows the certificate of a machine, and nothing of us', async () => {
  const { run } = await plant();
  const asked = ['s_client', '-starttls', 'postgres', '-connect', `127.0.0.1:${decoy.port}`];
  const { stdout } = await run('openssl', asked);
  const [, subject, issuer] = /^subject=CN = (.+)\nissuer=CN = (.+)$/m.exec(stdout) ?? [];
  expect(subject).toMatch(/^[a-z0-9-]+$/);
  expect(issuer).toBe(subject);
  expect(stdout).not.toMatch(/trap|canary|decoy|honey|evidence|node/i);
});

test('a refusal does not tell by its time whether there is somebody of that name', async () => {
  const { host, port, user } = (await plant()).credential;
  const took = async (name: string) => {
    const since = performance.now();
    await refusedLogin({ host: `${host}`, port: Number(port) }, name);
    return performance.now() - since;
  };
  const times: [known: number, unknown: number][] = [];
  // Takes the third-fastest time, which excludes delays of the machine.
  const third = (who: 0 | 1) => times.map((pair) => pair[who]).toSorted((a, b) => a - b)[2] ?? 0;
  const apart = () => Math.abs(third(0) - third(1));
  // Further rounds remove delays of the machine; a real difference stays.
  while (times.length < 15 || (times.length < 150 && apart() >= 8))
    times.push([await took(`${user}`), await took('nobody')]);
  expect(Math.min(third(0), third(1))).toBeGreaterThan(20);
  expect(apart()).toBeLessThan(8);
});

test('a query of many megabytes is answered, and kept in part', async () => {
  const trap = await plant();
  const { stderr } = await trap.run('sh', [
    '-c',
    '. ./.env && { printf "select 1, \'"; head -c 8000000 /dev/zero | tr "\\0" a; echo "\' from t;"; } | psql -q "$DATABASE_URL"',
  ]);
  expect(stderr).toMatch(/permission denied/);
  const [detection] = await decoy.detections(trap.id);
  expect(detection.action).toHaveLength(300);
});
