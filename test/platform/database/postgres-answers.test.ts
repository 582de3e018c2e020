import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { asOutage, outageIn } from '../../../src/platform/database/outage.ts';
import { answered } from '../../../src/platform/database/postgres-answers.ts';
import { usePostgres } from '../../support/shared-postgres.ts';
import { startTcpRelay } from '../../support/tcp-relay.ts';

/** Runs a statement on a connection through a relay, and asks every 20 ms whether it still runs. */
async function run(statement: string) {
  const databases = await usePostgres();
  onTestFinished(() => databases.close());
  const url = new URL(await databases.create());
  const relay = await startTcpRelay(Number(url.port));
  onTestFinished(() => relay.close());
  const direct = url.href;
  url.port = `${relay.port}`;
  const config = { connectionString: url.href };
  const client = new pg.Client(config);
  client.on('error', () => {});
  await client.connect();
  return {
    relay,
    end: databases.query.bind(null, direct),
    answer: answered(config, client, client.query(statement), 20),
  };
}

test('a statement that runs for long is left alone', async () => {
  const { answer } = await run('SELECT pg_sleep(1)');
  expect((await answer).rows).toHaveLength(1);
});

test('a statement whose server vanished ends in an outage', async () => {
  const { relay, end, answer } = await run('SELECT pg_sleep(1000)');
  const failed = answer.catch((error: unknown) => asOutage(error));
  relay.freeze();
  await end("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(1000)'");
  expect(outageIn(await failed)).toBe('unreachable');
});
