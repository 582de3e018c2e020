import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { toHmacKey } from '../../src/core/digest.ts';
import { membersIn } from '../../src/probe/digest/recipe-bench.ts';
import { samplesAt } from '../../src/probe/sample/sample.ts';
import type { Description } from '../../src/verifier/profile/description.ts';
import { parseContract } from '../../src/verifier/profile/file.ts';
import { DEFAULT_DESCRIPTION } from '../../src/verifier/reading/default-contract.ts';
import { openContract } from '../../src/verifier/reading/reading.ts';
import { type Ended, evidence } from '../support/evidence.ts';
import { postEntries, type ServedPlatform, servePlatform, someEntries } from '../support/platform.ts';
import { camel } from '../support/services/camel.ts';
import { fastApi } from '../support/services/fastapi.ts';
import { MAIN_STREAM, OTHER_STREAM } from '../support/services/history.ts';
import type { InventedService, ServiceKind } from '../support/services/invented-service.ts';
import { results } from '../support/services/results.ts';
import { someRows } from '../support/some-rows.ts';

const API_KEY = 'sk_of_the_probe_0123456789';

interface Expected {
  kind: ServiceKind;
  entry: Partial<Description['entry']>;
  entries: Partial<Description['entries']>;
  digest: object;
  generate: object;
  package: object;
  verify: object | null;
  seal: object | null;
}

const SERVICES: Record<string, Expected> = {
  'FastAPI style': {
    kind: fastApi,
    entry: {
      stream_id: 'stream_id',
      sequence: 'seq',
      entry_id: 'id',
      timestamp: 'ts',
      previous: 'previous_hash',
      digest: 'entry_hash',
    },
    entries: {
      items: '',
      paging: { style: 'offset', parameter: 'skip' },
      stream_parameter: 'stream_id',
      from_parameter: 'start_date',
      to_parameter: 'end_date',
      order: 'ascending',
    },
    digest: {
      encoding: 'hex',
      genesis: 'zeros',
      recipe: {
        algorithm: 'sha-256',
        key: null,
        preimage: [
          'previous',
          {
            json: {
              form: 'python',
              separators: 'spaced',
              ascii: true,
              sort_keys: true,
              without: ['entry_hash', 'signature', 'previous_hash', 'key_version'],
            },
          },
        ],
      },
    },
    generate: {
      body: { stream_id: '{stream_id}', start_date: '{from}', end_date: '{to}' },
      fields: { package_id: 'id' },
    },
    package: {
      entries: 'audit_logs',
      fields: {
        package_id: 'package.id',
        stream_id: 'package.stream_id',
        entry_count: 'package.total_entries',
        head_digest: 'package.head_hash',
      },
    },
    verify: {
      path: '/streams/{stream_id}/verify',
      fields: { verified: 'is_valid', checked_at: 'verified_at', failures: 'errors', failure_sequence: 'seq' },
    },
    seal: {
      field: 'signature',
      key: { field: 'key_version' },
      algorithm: 'hmac-sha-256',
      encoding: 'hex',
      over: 'digest-text',
    },
  },
  camelCase: {
    kind: camel,
    entry: {
      stream_id: 'streamId',
      sequence: 'sequenceNumber',
      entry_id: 'entryId',
      timestamp: 'recordedAt',
      previous: 'prevDigest',
      digest: 'digest',
    },
    entries: {
      items: 'items',
      paging: { style: 'cursor', next: 'nextToken', absent_at_end: true, parameter: 'pageToken' },
      limit: { parameter: 'pageSize', size: 100 },
      stream_parameter: 'streamId',
      from_parameter: 'since',
      to_parameter: 'until',
      order: 'ascending',
    },
    digest: {
      encoding: 'base64url',
      genesis: 'empty',
      recipe: {
        algorithm: 'sha-512',
        key: null,
        preimage: [
          {
            join: {
              separator: '|',
              fields: [
                'streamId',
                'sequenceNumber',
                'recordedAt',
                'actor',
                'action',
                'resourceType',
                'resourceId',
                'prevDigest',
              ],
              null_as: '',
            },
          },
        ],
      },
    },
    generate: {
      body: { streamId: '{stream_id}', since: '{from}', until: '{to}' },
      fields: { package_id: 'packageId' },
      ready: { when: 'download-answers', not_yet: [202, 404, 409, 425] },
    },
    package: {
      entries: 'records',
      fields: { package_id: 'packageId', stream_id: 'streamId', entry_count: 'recordCount', head_digest: 'lastDigest' },
    },
    verify: null,
    seal: {
      field: 'signature',
      key: { field: 'signatureKeyId' },
      algorithm: 'hmac-sha-512',
      encoding: 'base64',
      over: 'digest-text',
    },
  },
  'results and next': {
    kind: results,
    entry: {
      stream_id: 'stream',
      sequence: 'position',
      entry_id: 'uid',
      timestamp: 'created',
      previous: 'prev_mac',
      digest: 'mac',
    },
    entries: {
      items: 'results',
      paging: { style: 'link', next: 'next', absent_at_end: false },
      limit: { parameter: 'page_size', size: 100 },
      stream_parameter: 'stream',
      from_parameter: 'date_from',
      to_parameter: 'date_to',
      order: 'descending',
    },
    digest: { encoding: 'hex', genesis: 'null', recipe: { algorithm: 'hmac-sha-256', key: { field: 'key_id' } } },
    generate: {
      body: { stream: '{stream_id}', date_from: '{from}', date_to: '{to}' },
      fields: { package_id: 'data.package.uuid' },
      ready: { when: 'at-once' },
    },
    package: {
      entries: 'data.entries',
      fields: {
        package_id: 'data.meta.uuid',
        stream_id: 'data.meta.stream',
        entry_count: 'data.meta.count',
        head_digest: 'data.meta.last_mac',
      },
    },
    verify: null,
    seal: null,
  },
};

/** Service for tests of the command that do not depend on the service. */
const WHICHEVER = someRows(Object.keys(SERVICES), () => 'service');

describe.each(Object.entries(SERVICES))('a service of the kind %s', (name, expected) => {
  const whichever = WHICHEVER.filter((one) => one === name);
  let service: InventedService;
  let folder: string;
  let keyFlags: string[];
  let first: Ended;
  let contract: Description;
  const probe = (...flags: string[]) =>
    evidence(['probe', ...flags], {
      cwd: folder,
      env: { EVIDENCE_AUDIT_URL: service.auditUrl, EVIDENCE_API_KEY: API_KEY },
    });
  const file = () => readFileSync(join(folder, 'contract.yaml'), 'utf8');

  beforeAll(async () => {
    service = await expected.kind.start({ apiKey: API_KEY });
    folder = mkdtempSync(join(tmpdir(), 'probe-test-'));
    keyFlags = Object.entries(service.sealKeys).flatMap(([id, key]) => {
      writeFileSync(join(folder, `${id}.key`), key);
      return ['--seal-key', `${id}=${id}.key`];
    });
    first = await probe('--generate', ...keyFlags);
    contract = parseContract(file(), 'contract.yaml');
  });
  afterAll(() => service.close());

  test('is described as it is', () => {
    expect(first.code, first.stderr).toBe(0);
    const { kind: _kind, verify, seal, ...sections } = expected;
    expect(contract).toMatchObject(sections);
    expect(contract.verify).toEqual(verify === null ? null : expect.objectContaining(verify));
    expect(contract.seal).toEqual(seal);
    expect(first.stdout).toContain('reproduces 250 of 250 sampled digests');
  });

  test('every entry of its list is read by that contract, its digest computed anew', async () => {
    const opened = openContract(contract);
    const keys = new Map(Object.entries(service.sealKeys).map(([id, key]) => [id, toHmacKey(Buffer.from(key))]));
    for (const streamId of [MAIN_STREAM, OTHER_STREAM]) {
      const url = new URL(`${service.auditUrl}/entries/`);
      url.searchParams.set(contract.entries?.stream_parameter ?? '', streamId);
      const answer = await fetch(url, { headers: { authorization: `Bearer ${API_KEY}` } });
      const samples = samplesAt(await answer.text(), contract.entries?.items ?? '');
      expect(samples.length).toBeGreaterThanOrEqual(20);
      for (const sample of samples) {
        const entry = opened.readEntry(Buffer.from(sample.text()), membersIn(sample), keys);
        expect(entry.content).toMatchObject({ state: 'computed', digest: entry.digest });
        expect(entry.streamId).toBe(streamId);
      }
    }
  });

  test.each(whichever)('a second run writes the same bytes (%s)', async () => {
    const before = file();
    const again = await probe('--generate', ...keyFlags);
    expect(again.code, again.stderr).toBe(0);
    expect(file()).toBe(before);
  });

  test('the file holds no key, no stream, nothing that was recorded, and no date', () => {
    for (const secret of [API_KEY, ...Object.values(service.sealKeys)]) {
      expect(file()).not.toContain(secret);
      expect(first.stdout + first.stderr).not.toContain(secret);
    }
    expect(file()).not.toMatch(/payments|сотрудники|svc-deploy|\d{4}-\d\d-\d\d/);
  });

  test.each(whichever)('without --generate it only reads, and says what was not seen (%s)', async () => {
    const sent = service.requests.length;
    const { code, stdout } = await probe('--out', 'read-only.yaml', ...keyFlags);
    expect(code).toBe(0);
    expect(service.requests.slice(sent).map(({ method }) => method)).toEqual(expect.not.arrayContaining(['POST']));
    expect(service.requests.length).toBeGreaterThan(sent);
    expect(stdout).toContain('--generate');
    const written = readFileSync(join(folder, 'read-only.yaml'), 'utf8');
    expect(written).toContain('NOT SEEN: no package was made');
    expect(parseContract(written, 'read-only.yaml')).toMatchObject({ entry: contract.entry, digest: contract.digest });
  });

  test.each(whichever)(
    'another contract in its place is shown and left alone, unless it is to be replaced (%s)',
    async () => {
      const mine = file().replace('order: ', 'order: un');
      const other = join(folder, 'other.yaml');
      writeFileSync(other, 'mine: yes\n');
      const { code, stderr } = await probe('--out', 'other.yaml', '--generate', ...keyFlags);
      expect(code).toBe(2);
      expect(stderr).toContain('- mine: yes');
      expect(stderr).toContain('--force');
      expect(readFileSync(other, 'utf8')).toBe('mine: yes\n');
      expect((await probe('--out', 'other.yaml', '--force', '--generate', ...keyFlags)).code).toBe(0);
      expect(readFileSync(other, 'utf8')).toBe(file());
      expect(mine).not.toBe(file());
    },
  );

  test('an export by the contract verifies what there is', async () => {
    const { code, stdout, stderr } = await evidence(
      ['export', '--all-time', '--contract', 'contract.yaml', '--json', ...keyFlags],
      { cwd: folder, env: { EVIDENCE_AUDIT_URL: service.auditUrl, EVIDENCE_API_KEY: API_KEY } },
    );
    expect(code, stderr).toBe(0);
    const { streams } = JSON.parse(stdout);
    const verified = streams.filter(({ claims }: { claims: Record<string, { state: string }> }) =>
      ['order', 'content', 'completeness'].every((name) => claims[name]?.state === 'proved'),
    );
    expect(verified).toHaveLength(2);
  });
});

test.each<[string, ServiceKind, 'edited' | 'relinked' | 'valid', number, string[]]>([
  ['the entry that was changed', fastApi, 'edited', 1, ['reproduces 272 of 273 sampled digests', '1: "payments" 30']],
  ['the links that do not hold', camel, 'relinked', 1, ['269 of 271', '2: "payments" 30–31']],
  [
    'what is to be written where nobody can compute the digests, and that HMACs need a key, which it does not guess',
    results,
    'valid',
    3,
    ['require: [order]', 'content: unproved', '--seal-key ID=FILE', '--search-seconds allows more'],
  ],
])('a probe says %s', async (_, kind, tampering, expectedCode, said) => {
  const service = await kind.start({ apiKey: API_KEY, tampering });
  const folder = mkdtempSync(join(tmpdir(), 'probe-test-'));
  // The probe finds it long before, but searches to the end for missing features.
  const seconds = kind === results ? '1' : '60';
  const { code, stdout } = await evidence(['probe', '--search-seconds', seconds], {
    cwd: folder,
    env: { EVIDENCE_AUDIT_URL: service.auditUrl, EVIDENCE_API_KEY: API_KEY },
  });
  await service.close();
  expect(code, stdout).toBe(expectedCode);
  for (const words of said) expect(stdout).toContain(words);
  expect(
    parseContract(readFileSync(join(folder, 'contract.yaml'), 'utf8'), 'contract.yaml').digest.recipe === null,
  ).toBe(kind === results);
});

describe('the platform', () => {
  let platform: ServedPlatform;
  beforeAll(async () => {
    platform = await servePlatform();
    await postEntries(platform, someEntries('one', 60));
    await postEntries(platform, someEntries('кадры/Zoë', 3));
  });
  afterAll(() => platform.stop());

  test.each(someRows([[['--generate']], [[]]], () => 'platform'))(
    'speaks the default contract, so no file is needed (%j)',
    async (flags) => {
      const folder = mkdtempSync(join(tmpdir(), 'probe-test-'));
      const { code, stdout, stderr } = await evidence(['probe', ...flags], { cwd: folder, env: platform.env });
      expect(code, stderr).toBe(0);
      expect(stdout).toContain('no contract file is needed');
      const { name, ...rest } = parseContract(readFileSync(join(folder, 'contract.yaml'), 'utf8'), 'contract.yaml');
      expect({ ...rest, name: 'default' }).toEqual(DEFAULT_DESCRIPTION);
      expect(name).toBe('127.0.0.1');
    },
  );
});

test('a key that is refused ends the probe as refused', async () => {
  const service = await camel.start({ apiKey: API_KEY });
  const { code, stderr } = await evidence(['probe'], {
    cwd: mkdtempSync(join(tmpdir(), 'probe-test-')),
    env: { EVIDENCE_AUDIT_URL: service.auditUrl, EVIDENCE_API_KEY: 'sk_another' },
  });
  await service.close();
  expect(code).toBe(5);
  expect(stderr).toContain('EVIDENCE_API_KEY');
});
