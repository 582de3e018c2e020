import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Database } from '../../../src/platform/database/database.ts';
import { Dispatcher } from '../../../src/platform/outgoing/dispatcher.ts';
import { askForLastUses, Iam } from '../../../src/platform/traps/aws/iam.ts';
import { RealKeys } from '../../../src/platform/traps/aws/real-keys.ts';
import type { AwsAccess } from '../../../src/platform/traps/aws/settings.ts';
import { findTrap } from '../../../src/platform/traps/repository.ts';
import { importedKeySchema, provisionedKeySchema } from '../../../src/platform/traps/wire.ts';
import { freePort } from '../../support/ports.ts';
import { type DatabasePlace, startSqlitePlace } from '../database/databases.ts';
import { SOMEBODY } from '../world.ts';
import { IamDouble } from './iam-double.ts';
import { TrapPlace } from './trap-place.ts';

const planting = { plant_location: 'ci', label: 'a real key' };
const MINUTE = 60_000;

/** Returns the place's real keys, backed by this IAM. */
function keysOf(at: TrapPlace, access: AwsAccess, clock = () => new Date(at.now)) {
  const iam = new Iam(access, new Dispatcher({ allowed: [new URL(access.endpoint ?? '').host] }), () => new Date());
  const keys = new RealKeys({ traps: at.traps, database: at.database, clock, places: () => [], iam });
  const ask = () => askForLastUses({ database: at.database, vault: at.vault, uses: at.uses, iam, clock });
  const provision = (more: object = {}, key?: string) =>
    keys.provision(SOMEBODY, provisionedKeySchema.parse({ ...planting, ...more }), key);
  const take = (access_key_id: string) =>
    keys.import(SOMEBODY, importedKeySchema.parse({ ...planting, access_key_id }), undefined);
  return { ask, provision, take };
}

let place: DatabasePlace;
let database: Database;
let at: TrapPlace;
beforeEach(async () => {
  place = await startSqlitePlace();
  ({ database } = await place.createMigrated());
  at = new TrapPlace(database);
});
afterEach(() => place.close());

describe('against an IAM that is strict', () => {
  let double: IamDouble;
  let keys: ReturnType<typeof keysOf>;
  beforeEach(async () => {
    double = await new IamDouble().start();
    keys = keysOf(at, { ...double.access, endpoint: double.endpoint });
  });
  afterEach(() => double.stop());

  const usedAt = (keyId: unknown, minutes: number) =>
    double.lastUses.set(String(keyId), {
      date: new Date(at.now + minutes * MINUTE).toISOString().replace('.000', ''),
      service: 's3',
      region: 'eu-west-1',
    });

  test('a key that is made there is a trap, and its user has nothing but the key', async () => {
    const { credential, artifact, origin } = await keys.provision({ user_name: 'backup-prod' });
    expect(origin).toBe('provisioned');
    expect(credential).toMatchObject({ account_id: '111122223333', user_name: 'backup-prod' });
    expect([...double.users]).toEqual([['backup-prod', [credential['access_key_id']]]]);
    expect(artifact.content).not.toContain('endpoint_url');
  });

  test('its use is seen once, by when it was last used', async () => {
    const { credential } = await keys.provision();
    await keys.ask();
    expect(await at.found()).toEqual([]);
    usedAt(credential['access_key_id'], 5);
    at.now += 20 * MINUTE;
    await keys.ask();
    await keys.ask();
    expect(await at.found()).toMatchObject([
      { channel: 'aws_last_used', service: 's3', region: 'eu-west-1', depth: 'used', source_ip: null, occurrences: 1 },
    ]);
    usedAt(credential['access_key_id'], 0);
    at.now += 60 * MINUTE;
    await keys.ask();
    expect((await at.found()).map(({ occurrences }) => occurrences)).toEqual([1, 1]);
  });

  test('a use of before it was a trap is none', async () => {
    usedAt('AKIAQQQQQQQQQQQQQQQQ', -1);
    await keys.take('AKIAQQQQQQQQQQQQQQQQ');
    await keys.ask();
    expect(await at.found()).toEqual([]);
  });

  test('a use that CloudTrail told of is not told again', async () => {
    const { credential_id, credential } = await keys.provision();
    const { trap_no } = await findTrap(database, credential_id);
    const use = {
      channel: 'aws_cloudtrail',
      sourceEventId: 'e',
      service: 'sts',
      action: 'sts:GetCallerIdentity',
    } as const;
    await at.uses.record(at.use(trap_no, use));
    await at.uses.record(at.use(trap_no, { ...use, sourceEventId: 'f', service: 's3', action: 's3:ListBuckets' }));
    usedAt(credential['access_key_id'], 1);
    await keys.ask();
    expect(await at.found()).toMatchObject([{ channel: 'aws_cloudtrail', occurrences: 2 }]);
  });

  test('a use of another service than CloudTrail told of is a use of its own', async () => {
    const { credential_id, credential } = await keys.provision();
    const { trap_no } = await findTrap(database, credential_id);
    const use = { channel: 'aws_cloudtrail', sourceEventId: 'e', action: 'sts:GetCallerIdentity' } as const;
    await at.uses.record(at.use(trap_no, use));
    usedAt(credential['access_key_id'], 1);
    await keys.ask();
    expect(await at.found()).toMatchObject([
      { channel: 'aws_last_used', service: 's3' },
      { channel: 'aws_cloudtrail' },
    ]);
  });

  test('where it would have expired already, nothing is made there', async () => {
    await expect(keys.provision({ expires_at: '2020-01-01T00:00:00Z' })).rejects.toThrow('expires_at is in the past');
    expect([...double.users]).toEqual([]);
  });

  test.each(['CreateUser', 'CreateAccessKey'])('where %s is refused, nothing is left there or here', async (action) => {
    double.refuses = action;
    await expect(keys.provision()).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining(action),
    });
    expect([...double.users]).toEqual([]);
    expect((await at.traps.list({ limit: 9 })).data).toEqual([]);
  });

  test('a fault when it is stored leaves nothing there', async () => {
    at.fault = 'after';
    await expect(keys.provision()).rejects.toThrow('a fault');
    expect([...double.users]).toEqual([]);
  });

  test('a request that is repeated makes nothing there', async () => {
    await keys.provision({}, 'once');
    await expect(keys.provision({}, 'once')).rejects.toMatchObject({ code: 'key_shown_before' });
    expect(double.users.size).toBe(1);
  });

  test('a key that cannot be asked for keeps no other from it', async () => {
    const { credential } = await keys.provision();
    usedAt(credential['access_key_id'], 5);
    double.refuses = 'GetAccessKeyLastUsed';
    await expect(keys.ask()).rejects.toThrow('1 of 1 keys could not be asked for');
    double.refuses = null;
    await keys.ask();
    expect(await at.found()).toHaveLength(1);
  });
});

const moto = await startMoto();
const words = moto === null ? 'moto is not on this machine: the strict double alone stood for IAM' : 'against moto';
test(`${words}: a provisioned key is seen through its last use, with CloudTrail silent`, async () => {
  if (moto === null) return expect(words).toContain('not on this machine');
  try {
    const now = () => new Date(Date.now());
    at.now = Date.now() - 5 * MINUTE;
    const access = { accessKeyId: 'AKIAQQQQQQQQQQQQQQQQ', secret: 's'.repeat(40), region: 'us-east-1' };
    const keys = keysOf(at, { ...access, endpoint: moto.url }, now);
    const { credential } = await keys.provision();
    await keys.ask();
    expect(await at.found()).toEqual([]);
    const credentials = {
      accessKeyId: String(credential['access_key_id']),
      secretAccessKey: String(credential['secret_access_key']),
    };
    const client = new STSClient({ endpoint: moto.url, region: 'us-east-1', credentials });
    await client.send(new GetCallerIdentityCommand());
    await keys.ask();
    expect(await at.found()).toMatchObject([{ channel: 'aws_last_used', service: 'sts', region: 'us-east-1' }]);
  } finally {
    await moto.stop();
  }
});

/** Starts Moto; null if it is not installed. */
async function startMoto() {
  const port = await freePort();
  const child = spawn('moto_server', ['-H', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' });
  const ended = once(child, 'exit').catch(() => null);
  const url = `http://127.0.0.1:${port}/`;
  for (let left = 300; left > 0; left--) {
    const gone = await Promise.race([ended.then(() => true), answers(url)]);
    if (gone === true) return null;
    if (gone === 'yes')
      return {
        url,
        async stop() {
          child.kill();
          await ended;
        },
      };
  }
  child.kill();
  throw new Error('moto does not begin to listen');
}

async function answers(url: string): Promise<'yes' | 'no'> {
  const response = await fetch(`${url}moto-api/`).catch(() => null);
  if (response !== null) return 'yes';
  await new Promise((resolve) => setTimeout(resolve, 100));
  return 'no';
}
