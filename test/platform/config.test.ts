import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type PlatformFlags, readPlatformConfig } from '../../src/platform/config.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'platform-config-'));
  writeFileSync(join(folder, 'password'), 'p:a/ss\n');
  writeFileSync(join(folder, 'aws-secret'), `${'s'.repeat(40)}\n`);
});
afterAll(() => rmSync(folder, { recursive: true }));

interface Given {
  file?: string;
  environment?: Record<string, string>;
  flags?: PlatformFlags;
}

function read({ file, environment = {}, flags = {} }: Given) {
  if (file !== undefined) writeFileSync(join(folder, 'platform.yaml'), file);
  const config = file === undefined ? {} : { config: 'platform.yaml' };
  return readPlatformConfig({ ...config, ...flags }, environment, folder);
}

test('without a word about it everything is as it is meant for one machine', () => {
  expect(read({ flags: { data: 'data' } })).toEqual({
    dataDir: 'data',
    postgresUrl: null,
    host: '127.0.0.1',
    port: 8181,
    tsaUrl: null,
    tsaRoots: null,
    checkpointMinutes: null,
    logLevel: 'warn',
    rateLimits: { requestsPerMinute: 600_000, refusalsPerMinute: 300 },
    trustedProxies: [],
    metricsFor: 'key',
    publicUrl: null,
    signUp: 'closed',
    signUpDomains: [],
    mail: { folder: join('data', 'mail') },
    outgoingHosts: [],
    decoys: [],
    aws: { iam: null, trail: null },
    trustTimes: { trustedAfterDays: 7, verifiedAfterDays: 14, idleDays: 30 },
  });
});

test('the file says all of it, its paths from where it lies', () => {
  const file = `data: data
postgres_url: postgres://platform@db.example/audit
postgres_password_file: password
host: 0.0.0.0
port: 0
tsa_url: https://tsa.example
tsa_roots: tsa.pem
checkpoint_minutes: 60
log_level: info
rate_limits:
  requests_per_minute: 1000
trusted_proxies: [127.0.0.1, '::1', 10.0.0.0/8]
metrics_for: loopback
public_url: https://evidence.example/
sign_up: approval
sign_up_domains: [Example.com, münchen.example]
smtp:
  url: smtp://platform@mail.example:587
  from: Evidence@example.com
  password_file: password
outgoing_hosts: [hooks.internal]
decoys:
  - {name: db, kind: postgres, listen: '[::]:5432', public: db.example:5432}
  - {name: web, kind: web, listen: 127.0.0.1:0, certificate_file: password, key_file: password}
aws:
  access_key_id: AKIAQZZZZZZZZZZZZZZZ
  secret_access_key_file: aws-secret
cloudtrail:
  access_key_id: AKIAQZZZZZZZZZZZZZZZ
  secret_access_key_file: aws-secret
  region: eu-central-1
  endpoint_url: https://s3.example
  bucket: trail
agents:
  trusted_after_days: 1
  verified_after_days: 2
  idle_days: 3
`;
  expect(read({ file })).toEqual({
    dataDir: join(folder, 'data'),
    postgresUrl: 'postgres://platform:p%3Aa%2Fss@db.example/audit',
    host: '0.0.0.0',
    port: 0,
    tsaUrl: 'https://tsa.example',
    tsaRoots: join(folder, 'tsa.pem'),
    checkpointMinutes: 60,
    logLevel: 'info',
    rateLimits: { requestsPerMinute: 1000, refusalsPerMinute: 300 },
    trustedProxies: ['127.0.0.1', '::1', '10.0.0.0/8'],
    metricsFor: 'loopback',
    publicUrl: 'https://evidence.example',
    signUp: 'approval',
    signUpDomains: ['example.com', 'xn--mnchen-3ya.example'],
    mail: { smtp: { url: 'smtp://platform@mail.example:587', from: 'Evidence@example.com', password: 'p:a/ss' } },
    outgoingHosts: ['hooks.internal'],
    trustTimes: { trustedAfterDays: 1, verifiedAfterDays: 2, idleDays: 3 },
    decoys: [
      {
        name: 'db',
        kind: 'postgres',
        host: '::',
        port: 5432,
        publicHost: 'db.example',
        publicPort: 5432,
        tls: null,
      },
      {
        name: 'web',
        kind: 'web',
        host: '127.0.0.1',
        port: 0,
        publicHost: null,
        publicPort: null,
        tls: { certificate: 'p:a/ss\n', key: 'p:a/ss\n' },
      },
    ],
    aws: {
      iam: { accessKeyId: 'AKIAQZZZZZZZZZZZZZZZ', secret: 's'.repeat(40), region: 'us-east-1', endpoint: null },
      trail: {
        bucket: 'trail',
        prefix: '',
        everyMinutes: 5,
        access: {
          accessKeyId: 'AKIAQZZZZZZZZZZZZZZZ',
          secret: 's'.repeat(40),
          region: 'eu-central-1',
          endpoint: 'https://s3.example',
        },
      },
    },
  });
});

test('the environment replaces the file, and flags replace both', () => {
  const file = 'data: a\nhost: a\nport: 1\ntsa_url: http://a\npostgres_url: postgres://a/a\n';
  const environment = {
    EVIDENCE_PLATFORM_DATA: 'b',
    EVIDENCE_PLATFORM_HOST: 'b',
    EVIDENCE_PLATFORM_PORT: '2',
    EVIDENCE_PLATFORM_TSA_URL: 'http://b',
    EVIDENCE_PLATFORM_POSTGRES_URL: 'postgres://b:secret@b/b',
    EVIDENCE_PLATFORM_LOG_LEVEL: 'error',
    EVIDENCE_PLATFORM_PUBLIC_URL: 'https://b.example',
  };
  const flags = { data: 'c', host: 'c', port: 3, 'tsa-url': 'http://c', postgres: 'postgres://c/c' };
  expect(read({ file, environment })).toMatchObject({ host: 'b', port: 2, postgresUrl: 'postgres://b:secret@b/b' });
  expect(read({ file, environment, flags })).toMatchObject({
    dataDir: 'c',
    postgresUrl: 'postgres://c/c',
    host: 'c',
    port: 3,
    tsaUrl: 'http://c',
    checkpointMinutes: null,
    logLevel: 'error',
    rateLimits: expect.anything(),
    publicUrl: 'https://b.example',
    signUp: 'closed',
    signUpDomains: [],
    mail: { folder: join('c', 'mail') },
  });
});

describe('what is wrong is named', () => {
  test.each<[string, Given, string]>([
    ['no folder', {}, 'no data folder is configured'],
    ['a key that is not known', { file: 'data: a\ntsa: x\n' }, 'platform.yaml:2:1: unknown key "tsa"'],
    ['a port that is none', { file: 'data: a\nport: 70000\n' }, 'platform.yaml:2:1: port:'],
    [
      'a proxy by its name',
      { file: 'data: a\ntrusted_proxies: [proxy.example]\n' },
      'platform.yaml:2:19: trusted_proxies.0: is neither an IP address nor a network',
    ],
    [
      'a decoy without a port',
      { file: 'data: a\ndecoys:\n  - {name: db, kind: postgres, listen: db.example}\n' },
      'platform.yaml:3:32: decoys.0.listen: is not written HOST:PORT',
    ],
    [
      'a decoy with half a certificate',
      { file: 'data: a\ndecoys:\n  - {name: web, kind: web, listen: 0.0.0.0:443, key_file: k}\n' },
      'platform.yaml:3:5: decoys.0: the decoy needs both certificate_file and key_file, or neither',
    ],
    [
      'two decoys of one name',
      { file: 'data: a\ndecoys: [&a {name: x, kind: web, listen: a:1}, *a]\n' },
      'platform.yaml:2:48: decoys.1.name: two decoys have the name "x"',
    ],
    [
      'a decoy on a port that is none',
      { file: 'data: a\ndecoys: [{name: x, kind: web, listen: "a:65536"}]\n' },
      'platform.yaml:2:31: decoys.0.listen: has no port number',
    ],
    [
      'a database without TLS',
      { file: 'data: a\ndecoys: [{name: x, kind: postgres, listen: "a:1", plain_http: true}]\n' },
      'platform.yaml:2:51: decoys.0.plain_http: it is for web and aws without a certificate',
    ],
    ['no YAML', { file: 'data: [\n' }, 'platform.yaml:2:1:'],
    ['a file that is not there', { flags: { config: 'other.yaml' } }, 'other.yaml cannot be read'],
    [
      'a port of the environment',
      { flags: { data: 'a' }, environment: { EVIDENCE_PLATFORM_PORT: '80x' } },
      'EVIDENCE_PLATFORM_PORT is not a port number',
    ],
    [
      'a log level of the environment',
      { flags: { data: 'a' }, environment: { EVIDENCE_PLATFORM_LOG_LEVEL: 'loud' } },
      'EVIDENCE_PLATFORM_LOG_LEVEL must be one of fatal, error, warn',
    ],
    [
      'an address of another kind',
      { flags: { data: 'a', postgres: 'mysql://b/c' } },
      '--postgres must be a PostgreSQL URL',
    ],
    [
      'an address without a database',
      { file: 'data: a\npostgres_url: postgres://db.example\n' },
      'platform.yaml:2:1: postgres_url: must be a PostgreSQL URL',
    ],
    [
      'a password on the command line',
      { flags: { data: 'a', postgres: 'postgres://u:hunter2@h/d' } },
      '--postgres contains a password',
    ],
    [
      'a password in the file',
      { file: 'data: a\npostgres_url: postgres://u:hunter2@h/d\n' },
      'platform.yaml:2:1: postgres_url: contains a password',
    ],
    [
      'no file with the password',
      { file: 'data: a\npostgres_url: postgres://u@h/d\npostgres_password_file: none\n' },
      'none does not exist',
    ],
    [
      'a public address with a path',
      { file: 'data: a\npublic_url: https://a.example/evidence\n' },
      'platform.yaml:2:1: public_url: must be a URL without a path',
    ],
    [
      'a public address of another kind',
      { flags: { data: 'a' }, environment: { EVIDENCE_PLATFORM_PUBLIC_URL: 'javascript:alert(1)' } },
      'EVIDENCE_PLATFORM_PUBLIC_URL must be a URL without a path',
    ],
    ['a domain that is none', { file: 'data: a\nsign_up_domains: [example.com, "@example.com"]\n' }, 'sign_up_domains'],
    ['another word for who may sign up', { file: 'data: a\nsign_up: maybe\n' }, 'platform.yaml:2:1: sign_up:'],
    [
      'two places for mails',
      { file: 'data: a\nmail_folder: m\nsmtp: {url: smtp://a, from: a@b.c}\n' },
      'platform.yaml:2:1: mail_folder: smtp and mail_folder are mutually exclusive',
    ],
    [
      'a mail server of another kind',
      { file: 'data: a\nsmtp: {url: http://a, from: a@b.c}\n' },
      'platform.yaml:2:8: smtp.url: must be the URL of a mail server',
    ],
    [
      'a password of a mail server in the file',
      { file: 'data: a\nsmtp: {url: "smtp://u:hunter2@a", from: a@b.c}\n' },
      'platform.yaml:2:8: smtp.url: contains a password',
    ],
    [
      'a user of a mail server without a password',
      { file: 'data: a\nsmtp: {url: smtp://u@a, from: a@b.c}\n' },
      'platform.yaml:2:8: smtp.url: has a user without a password',
    ],
    [
      'a password of nobody',
      { file: 'data: a\nsmtp: {url: smtp://a, from: a@b.c, password_file: password}\n' },
      'platform.yaml:2:36: smtp.password_file: is set, but smtp.url has no user',
    ],
    [
      'a sender that is none',
      { file: 'data: a\nsmtp: {url: smtp://a, from: "a@b.c\\r\\nBcc: d@e.f"}\n' },
      'smtp.from: is not an e-mail address',
    ],
  ])('%s', (_name, given, message) => {
    expect(() => read(given)).toThrow(message);
    try {
      read(given);
    } catch (error) {
      expect(JSON.stringify([String(error), error])).not.toContain('hunter2');
    }
  });
});
