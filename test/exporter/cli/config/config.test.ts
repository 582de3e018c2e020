import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Config, loadConfig, loadNamedConfig } from '../../../../src/exporter/cli/config/config.ts';
import type { ConfigFlags } from '../../../../src/exporter/cli/config/given.ts';

/** Creates a folder with these files. */
function folderWith(files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), 'config-'));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(folder, name, '..'), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

const FILE = `source:
  audit_url: https://file.example
  api_key_file: secrets/key
  rate: { concurrency: 7, requests_per_second: 2.5, least_bytes_per_second: 50 }
  timeouts: { connect_seconds: 1, headers_seconds: 2.5, idle_seconds: 90, request_seconds: 120, download_seconds: 3600, retry_after_seconds: 20 }
  limits: { json_bytes: 1000, package_bytes: 2000 }
  tls: { ca_file: tls/ca.pem, cert_file: /run/cert.pem, key_file: tls/key.pem }
verify:
  require: [order, content]
  completeness: record
  seal_keys: { k1: secrets/k1, k2: /run/k2 }
  timestamp_roots: roots.pem
  public_keys: [keys/a.pub, /run/b.pub]
sign:
  key_file: secrets/signing.pem
  passphrase_file: /run/passphrase
  tsa_url: https://tsa.example/tsr
  tsa_roots: tsa.pem
archive:
  url: archive
`;
const FILES = { 'evidence.yaml': FILE, 'secrets/key': 'sk_file\n', 'other/key': ' sk_other \n' };

describe('the file, then the environment, then the flags', () => {
  const folder = folderWith(FILES);
  type Expected = { [Section in keyof Config]?: Partial<Config[Section]> };
  type Row = [string, ConfigFlags, Record<string, string>, Expected];
  const cases: Row[] = [
    [
      'the file',
      {},
      {},
      {
        configFile: 'evidence.yaml',
        source: {
          auditUrl: 'https://file.example',
          apiKey: 'sk_file',
          contractFile: null,
          concurrency: 7,
          requestsPerSecond: 2.5,
          bounds: {
            timeouts: { connect: 1000, headers: 2500, idle: 90_000, request: 120_000, download: 3_600_000 },
            bytesPerSecond: 50,
            waits: { longest: 20_000, inAll: 60_000 },
            maxBytes: { json: 1000, download: 2000 },
            maxPages: 10_000,
          },
          tlsFiles: { ca: join(folder, 'tls/ca.pem'), cert: '/run/cert.pem', key: join(folder, 'tls/key.pem') },
        },
        verify: {
          required: ['order', 'content'],
          acceptUnhashed: [],
          completeness: 'record',
          sealKeyFiles: new Map([
            ['k1', { given: 'secrets/k1', path: join(folder, 'secrets/k1') }],
            ['k2', { given: '/run/k2', path: '/run/k2' }],
          ]),
          timestampRootsFile: join(folder, 'roots.pem'),
          publicKeyFiles: [join(folder, 'keys/a.pub'), '/run/b.pub'],
        },
        sign: {
          keyFile: join(folder, 'secrets/signing.pem'),
          passphraseFile: '/run/passphrase',
          passphrase: null,
          tsaUrl: 'https://tsa.example/tsr',
          rootsFile: join(folder, 'tsa.pem'),
        },
        archive: { url: join(folder, 'archive') },
      },
    ],
    [
      'an address in the environment',
      {},
      { EVIDENCE_AUDIT_URL: 'https://env.example' },
      { source: { auditUrl: 'https://env.example' } },
    ],
    [
      'an address as a flag',
      { auditUrl: 'https://flag.example' },
      { EVIDENCE_AUDIT_URL: 'https://env.example' },
      { source: { auditUrl: 'https://flag.example' } },
    ],
    [
      'a key in the environment',
      {},
      { EVIDENCE_API_KEY: 'sk_env', EVIDENCE_API_KEY_FILE: 'other/key' },
      { source: { apiKey: 'sk_env' } },
    ],
    [
      'a file of the key in the environment',
      {},
      { EVIDENCE_API_KEY_FILE: 'other/key' },
      { source: { apiKey: 'sk_other' } },
    ],
    ['an archive in the environment', {}, { EVIDENCE_ARCHIVE_URL: 'env' }, { archive: { url: 'env' } }],
    [
      'an archive as a flag',
      { archive: 's3://flag' },
      { EVIDENCE_ARCHIVE_URL: 'env' },
      { archive: { url: 's3://flag' } },
    ],
    ['concurrency as a flag', { concurrency: 64 }, {}, { source: { concurrency: 64 } }],
    [
      'claims as flags',
      { require: ['seal,anchor', 'order'] },
      {},
      { verify: { required: ['seal', 'anchor', 'order'] } },
    ],
    [
      'a public key as a flag, in place of those of the file',
      { publicKey: ['mine.pub'] },
      {},
      { verify: { publicKeyFiles: [join(folder, 'mine.pub')] } },
    ],
    [
      'a passphrase in the environment',
      {},
      { EVIDENCE_SIGNING_PASSPHRASE: 'hunter2' },
      { sign: { passphrase: 'hunter2' } },
    ],
    [
      'roots of checkpoints as a flag, and those of runs as they were',
      { timestampRoots: 'mine.pem' },
      {},
      { verify: { timestampRootsFile: join(folder, 'mine.pem') }, sign: { rootsFile: join(folder, 'tsa.pem') } },
    ],
    ['roots of runs as a flag', { stampRoots: 'mine.pem' }, {}, { sign: { rootsFile: join(folder, 'mine.pem') } }],
    [
      'seal keys as flags, in place of those of the file',
      { sealKey: ['k1=mine=1', 'k3=/k3'] },
      {},
      {
        verify: {
          sealKeyFiles: new Map([
            ['k1', { given: 'mine=1', path: join(folder, 'mine=1') }],
            ['k3', { given: '/k3', path: '/k3' }],
          ]),
        },
      },
    ],
  ];
  test.each(cases)('%s', async (_words, flags, environment, expected) => {
    expect(await loadConfig(flags, environment, folder)).toMatchObject(expected);
  });

  test('nothing at all', async () => {
    expect(await loadConfig({}, {}, folderWith({}))).toEqual({
      configFile: null,
      source: {
        auditUrl: null,
        otherUrls: { traps: null, endpoints: null, agents: null },
        apiKey: null,
        contractFile: null,
        concurrency: 4,
        requestsPerSecond: null,
        pageItems: null,
        bounds: {
          timeouts: { connect: 10_000, headers: 60_000, idle: 60_000, request: 600_000, download: 21_600_000 },
          bytesPerSecond: 1000,
          waits: { longest: 300_000, inAll: 900_000 },
          maxBytes: { json: 64 * 2 ** 20, download: 16 * 2 ** 30 },
          maxPages: 10_000,
        },
        tlsFiles: { ca: null, cert: null, key: null },
      },
      verify: {
        required: ['order', 'content'],
        acceptUnhashed: [],
        acceptsSecrets: false,
        completeness: 'listing',
        sealKeyFiles: new Map(),
        timestampRootsFile: null,
        publicKeyFiles: [],
      },
      sign: { keyFile: null, passphraseFile: null, passphrase: null, tsaUrl: null, rootsFile: null },
      archive: {
        url: './evidence-archive',
        isNamed: false,
        encryptTo: [],
        store: { pathStyle: false, legalHold: false },
      },
      report: { organisation: null, preparedBy: null, controls: [], oscal: false },
      queue: null,
      deadline: null,
      notify: { pingUrl: null, webhook: null, metricsFile: null },
      workDirectory: tmpdir(),
    });
  });
});

describe('which file', () => {
  const folder = folderWith({
    'conf/named.yaml': 'source: { audit_url: https://named.example, api_key_file: key }\narchive: { url: kept }\n',
    'conf/key': 'sk_named',
    'env.yaml': 'source: { audit_url: https://env.example }\narchive: { url: "s3://bucket/x" }',
    'evidence.yaml': '',
  });

  test('one that is named, with what it names relative to itself', async () => {
    expect(await loadConfig({ config: 'conf/named.yaml' }, { EVIDENCE_CONFIG: 'env.yaml' }, folder)).toMatchObject({
      source: { auditUrl: 'https://named.example', apiKey: 'sk_named' },
      archive: { url: join(folder, 'conf/kept') },
    });
  });

  test('one that the environment names', async () => {
    expect(await loadConfig({}, { EVIDENCE_CONFIG: 'env.yaml' }, folder)).toMatchObject({
      source: { auditUrl: 'https://env.example' },
      archive: { url: 's3://bucket/x' },
    });
  });

  test('an empty one says nothing', async () => {
    expect(await loadConfig({}, {}, folder)).toMatchObject({ source: { auditUrl: null, concurrency: 4 } });
  });

  test('one that is named has to be there', async () => {
    const error = await loadConfig({ config: 'absent.yaml' }, {}, folder).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'config', message: expect.stringContaining(join(folder, 'absent.yaml')) });
  });

  test('a folder in its place is no file that is absent', async () => {
    const error = await loadConfig({}, {}, folderWith({ 'evidence.yaml/x': '' })).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'config', message: expect.stringContaining('cannot be read') });
  });
});

describe('what is no file is refused at once, whoever it is for', () => {
  const KINDS: [string, (path: string) => void, RegExp][] = [
    ['a named pipe', (path) => execFileSync('mkfifo', [path]), /named pipe, a device or a socket/],
    ['a link to a device', (path) => symlinkSync('/dev/zero', path), /named pipe, a device or a socket/],
    ['a folder', (path) => mkdirSync(path), /a folder/],
    ['a file without end', (path) => truncateSync(openedAt(path), 3 * 2 ** 30), /more than \d+ bytes/],
  ];

  test.each(KINDS)('%s', async (_words, make, message) => {
    const folder = folderWith({ 'refers.yaml': 'source: { api_key_file: evidence.yaml }' });
    make(join(folder, 'evidence.yaml'));
    for (const config of [undefined, 'evidence.yaml', 'refers.yaml'])
      await expect(loadConfig({ config }, {}, folder)).rejects.toMatchObject({
        code: 'config',
        message: expect.stringMatching(message),
      });
  });

  test('a link to a file is a file: secrets of Kubernetes are links', async () => {
    const folder = folderWith({ 'there.yaml': 'source: { audit_url: https://there.example }' });
    symlinkSync('there.yaml', join(folder, 'evidence.yaml'));
    expect(await loadConfig({}, {}, folder)).toMatchObject({ source: { auditUrl: 'https://there.example' } });
  });
});

/** Creates an empty file. */
function openedAt(path: string): string {
  writeFileSync(path, '');
  return path;
}

describe('for a reader no file is read but the one that is named, and no key of a service', () => {
  const folder = folderWith(FILES);

  test('none', async () => {
    const nothing = await loadNamedConfig({}, {}, folderWith({}));
    expect(await loadNamedConfig({}, { EVIDENCE_API_KEY: 'sk_env' }, folder)).toEqual(nothing);
    expect(nothing).toMatchObject({ configFile: null, source: { apiKey: null } });
  });

  test.each([
    ['a flag', { config: 'evidence.yaml' }, {}],
    ['the environment', {}, { EVIDENCE_CONFIG: 'evidence.yaml' }],
  ])('one that %s names', async (_words, flags, environment) => {
    expect(await loadNamedConfig(flags, environment, folder)).toMatchObject({
      configFile: 'evidence.yaml',
      source: { apiKey: null },
      verify: { publicKeyFiles: [join(folder, 'keys/a.pub'), '/run/b.pub'] },
    });
  });
});

describe('a file that is wrong is refused, with the place', () => {
  const cases: [string, string, RegExp, RegExp?][] = [
    [
      'an unknown section',
      'archive: { url: x }\nsuorce:\n  audit_url: https://x\n',
      /evidence\.yaml:2:1: unknown key "suorce"/,
      /Did you mean "source"\?.*archive/,
    ],
    [
      'an unknown key',
      'source:\n  audit_url: https://x\n  audit-url: https://y\n',
      /evidence\.yaml:3:3: unknown key "source\.audit-url"/,
      /Did you mean "audit_url"\?/,
    ],
    [
      'an unknown key without a value',
      'verify:\n  requires:\n',
      /evidence\.yaml:2:3: unknown key "verify\.requires"/,
      /Did you mean "require"\?/,
    ],
    [
      'an unknown key further in',
      'source: { rate: { cuncurrency: 3 } }',
      /evidence\.yaml:1:19: unknown key "source\.rate\.cuncurrency"/,
      /Did you mean "concurrency"\?/,
    ],
    [
      'an unknown key like no other',
      'certificates_of_the_service: 1',
      /unknown key "certificates_of_the_service"/,
      /^Known here: /,
    ],
    [
      'the API key itself',
      'source: { api_key: sk_secret_value }',
      /unknown key "source\.api_key"/,
      /Did you mean "api_key_file"/,
    ],
    ['no URL', 'source: { audit_url: audit.example }', /evidence\.yaml:1:11: source\.audit_url: /],
    ['another protocol', 'source: { audit_url: "ftp://audit.example" }', /source\.audit_url: /],
    ['a claim that is none', 'verify:\n  require: [order, colour]', /verify\.require\.1: .*order/],
    [
      'a number out of range',
      'source: { rate: { concurrency: 0 } }',
      /evidence\.yaml:1:19: source\.rate\.concurrency: /,
    ],
    ['no rate at all', 'source: { rate: { requests_per_second: 0 } }', /:1:19: source\.rate\.requests_per_second: /],
    ['a time limit of nothing', 'source: { timeouts: { idle_seconds: 0 } }', /source\.timeouts\.idle_seconds: /],
    ['a time limit of days', 'source: { timeouts: { idle_seconds: 86401 } }', /source\.timeouts\.idle_seconds: /],
    ['a limit of nothing', 'source: { limits: { package_bytes: 0 } }', /source\.limits\.package_bytes: /],
    ['half a byte', 'source: { limits: { json_bytes: 1.5 } }', /source\.limits\.json_bytes: /],
    ['JSON longer than a string', 'source: { limits: { json_bytes: 1000000000 } }', /source\.limits\.json_bytes: /],
    ['a certificate without its key', 'source: { tls: { cert_file: x } }', /source\.tls: .*given together/],
    ['a key without its certificate', 'source: { tls: { key_file: x } }', /source\.tls: .*given together/],
    ['an unknown time limit', 'source: { timeouts: { idle: 1 } }', /unknown key "source\.timeouts\.idle"/],
    ['text for a number', 'source: { rate: { concurrency: "4" } }', /source\.rate\.concurrency: expected a number/],
    ['a list for a section', 'source: [1]', /evidence\.yaml:1:1: source: expected a mapping/],
    ['a path that is none', 'verify: { seal_keys: { k1: 5 } }', /verify\.seal_keys\.k1: expected text/],
    ['a key twice', 'archive: { url: a }\narchive: { url: b }', /evidence\.yaml:2:1: .*unique/],
    ['what is no YAML', 'source: { audit_url: ', /evidence\.yaml:1:\d+: /],
    ['text', 'just text', /evidence\.yaml:1:1: expected a mapping/],
    ['a list', '- source', /evidence\.yaml:1:1: expected a mapping/],
  ];
  test.each(cases)('%s', async (_words, text, message, nextStep = /^/) => {
    const error = await loadConfig({}, {}, folderWith({ 'evidence.yaml': text })).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'config', message: expect.stringMatching(message) });
    expect((error as { nextStep?: string }).nextStep ?? '').toMatch(nextStep);
    expect(JSON.stringify([(error as Error).message, error])).not.toContain('sk_secret_value');
  });
});

describe('flags and environment that are wrong', () => {
  const cases: [string, ConfigFlags, Record<string, string>, string, RegExp][] = [
    ['an address', { auditUrl: 'audit.example' }, {}, 'config', /no http:\/\/ or https:\/\/ prefix/],
    ['an address of another protocol', {}, { EVIDENCE_AUDIT_URL: 'file:///etc' }, 'config', /not an http\(s\) URL/],
    ['a claim', { require: ['order,colour'] }, {}, 'usage', /"colour"/],
    ['a requirement of nothing', { require: [] }, {}, 'usage', /no claim/],
    ['two files for one seal key', { sealKey: ['k1=a', 'k1=b'] }, {}, 'usage', /two files for the key "k1"/],
    ['an empty claim', { require: [''] }, {}, 'usage', /""/],
    ['no concurrency', { concurrency: 0 }, {}, 'usage', /1 to 64/],
    ['too much concurrency', { concurrency: 65 }, {}, 'usage', /1 to 64/],
    ['a concurrency that is no number', { concurrency: Number.NaN }, {}, 'usage', /1 to 64/],
    ['half a concurrency', { concurrency: 1.5 }, {}, 'usage', /1 to 64/],
    ['a seal key without a file', { sealKey: ['k1'] }, {}, 'usage', /ID=FILE/],
    ['a seal key without an id', { sealKey: ['=file'] }, {}, 'usage', /ID=FILE/],
    [
      'a file of the key that is not there',
      {},
      { EVIDENCE_API_KEY_FILE: 'absent' },
      'config',
      /the API key \(EVIDENCE_API_KEY_FILE\), .*, does not exist/,
    ],
  ];
  test.each(cases)('%s', async (_words, flags, environment, code, message) => {
    const error = await loadConfig(flags, environment, folderWith({})).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code, message: expect.stringMatching(message) });
  });
});

test('all that is wrong with a file is named, unknown names first, and so is a file that is not read', async () => {
  const wrong = folderWith({ 'evidence.yaml': 'verify: { require: [colour], foo: 1 }\nsorce: {}\n' });
  await expect(loadConfig({}, {}, wrong)).rejects.toMatchObject({
    message: expect.stringMatching(
      /evidence\.yaml:1:30: unknown key "verify\.foo"; 2:1: unknown key "sorce"; 1:21: verify\.require\.0: expected one of .*$/,
    ),
    nextStep: expect.stringMatching(/^Known here: require, /),
  });
  const other = folderWith({ 'evidence.yml': '' });
  await expect(loadConfig({}, {}, other)).rejects.toMatchObject({
    message: expect.stringMatching(/^evidence\.yml exists but is not read/),
  });
  await expect(loadConfig({ config: 'evidence.yml' }, {}, other)).resolves.toMatchObject({
    configFile: 'evidence.yml',
  });
});

test('a folder of seal keys gives each file by its name, without hidden ones', async () => {
  const folder = folderWith({
    'evidence.yaml': 'verify: { seal_keys: keys }',
    'keys/payments.1': 'hex:00',
    'keys/payments.2': 'hex:01',
    'keys/.hidden': 'no key',
    'keys/below/other': 'no key',
  });
  const { verify } = await loadConfig({}, {}, folder);
  expect([...verify.sealKeyFiles]).toEqual(
    ['payments.1', 'payments.2'].map((name) => [name, { given: name, path: join(folder, 'keys', name) }]),
  );
});

test.each([
  ['/nowhere/evidence/api-key', true],
  ['/nowhere/sk_live_4eC39HqLyjWDarjtT1zdp7dc', false],
  ['sk_live_4eC39HqLyjWDarjtT1zdp7dc', false],
  ['/nowhere/8f14e45fceea167a5a36dedd4bea2543', false],
])('the name of a file that is missing, %s, is shown only if it is no secret: %s', async (name, isShown) => {
  const folder = folderWith({});
  const loading = loadConfig({}, { EVIDENCE_API_KEY_FILE: name }, folder);
  await expect(loading).rejects.toThrow(/the API key \(EVIDENCE_API_KEY_FILE\)/);
  const error = await loading.catch(({ message }: Error) => message);
  expect(String(error).includes(name)).toBe(isShown);
});
