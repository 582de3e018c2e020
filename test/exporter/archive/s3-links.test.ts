import { afterEach, expect, test, vi } from 'vitest';
import { openS3Archive } from '../../../src/exporter/archive/s3/archive.ts';
import { DEFAULT_S3_LIMITS } from '../../../src/exporter/archive/s3/options.ts';

afterEach(() => vi.unstubAllEnvs());

const NOWHERE = { endpoint: 'http://127.0.0.1:9', region: 'us-east-1', pathStyle: true, legalHold: false };

function begin(environment: Record<string, string>) {
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  const options = { ...NOWHERE, limits: DEFAULT_S3_LIMITS, signal: new AbortController().signal };
  return openS3Archive({ bucket: 'b', prefix: '' }, options).links?.begin(60);
}

const KEY = { AWS_ACCESS_KEY_ID: 'key-id', AWS_SECRET_ACCESS_KEY: 'secret' };
const END = '2030-01-01T00:00:00.000Z';

test.each([
  ['an access key', KEY, null],
  [
    'credentials that say when they end',
    { ...KEY, AWS_SESSION_TOKEN: 't', AWS_CREDENTIAL_EXPIRATION: END },
    new Date(END),
  ],
  ['a session that does not say', { ...KEY, AWS_SESSION_TOKEN: 't' }, 'unknown'],
])('links signed with %s end as they do', async (_what, environment, credentialsUntil) => {
  const before = Date.now();
  const series = await begin(environment);
  expect(series?.credentialsUntil).toEqual(credentialsUntil);
  expect(series?.until.getTime()).toBeGreaterThan(before + 59_000 - 1);
  expect(series?.until.getTime()).toBeLessThanOrEqual(Date.now() + 60_000);
});

test('without credentials there are no links', async () => {
  const none = {
    AWS_ACCESS_KEY_ID: '',
    AWS_SECRET_ACCESS_KEY: '',
    AWS_EC2_METADATA_DISABLED: 'true',
    HOME: '/nonexistent',
  };
  await expect(begin(none)).rejects.toMatchObject({
    code: 'config',
    message: expect.stringContaining('no credentials'),
  });
});
