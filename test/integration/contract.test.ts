import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { sha256 } from '../../src/core/digest.ts';
import { slugOf } from '../../src/verifier/bundle/layout.ts';
import type { Description } from '../../src/verifier/profile/description.ts';
import { DEFAULT_DESCRIPTION } from '../../src/verifier/reading/default-contract.ts';
import { chainOf, packageOf, type SentEntry } from '../support/chain.ts';
import { evidence } from '../support/evidence.ts';
import { json, startFaultServer } from '../support/fault-server.ts';
import { type Lie, lieAbout } from '../support/lying-service.ts';
import { postEntries, type ServedPlatform, servePlatform, someEntries } from '../support/platform.ts';
import { run } from '../support/process.ts';

let platform: ServedPlatform;
let directory: string;

beforeAll(async () => {
  platform = await servePlatform();
  await postEntries(platform, [...someEntries('one', 30), ...someEntries('two', 5)]);
});
afterAll(() => platform.stop());
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'contract-test-'));
});

/** Writes a contract as JSON, which is YAML too. */
function pin(change: (description: Description) => void = () => {}): string {
  const description = structuredClone(DEFAULT_DESCRIPTION);
  description.name = 'pinned';
  change(description);
  const file = join(directory, 'contract.yaml');
  writeFileSync(file, JSON.stringify(description, null, 2));
  return file;
}

async function exportAll(args: readonly string[], { lie = () => undefined }: { lie?: Lie } = {}) {
  const service = await lieAbout(platform.auditUrl, lie);
  try {
    const env = { ...platform.env, EVIDENCE_AUDIT_URL: service.auditUrl };
    const ended = await evidence(['export', '--request', 'R', '--all-time', '--json', ...args], {
      cwd: directory,
      env,
    });
    const document = JSON.parse(ended.stdout);
    return { ...ended, document, requests: service.requests };
  } finally {
    service.close();
  }
}

const statuses = (document: { streams: { stream_id: string; status: string }[] }) =>
  Object.fromEntries(document.streams.map(({ stream_id, status }) => [stream_id, status]));

test('six requests are made for a stream, and one for their list', async () => {
  const { code, requests } = await exportAll([]);
  expect(code).toBe(0);
  const of = (stream: string) => requests.filter((request) => request.includes(stream)).length;
  expect([of('one'), of('two')]).toEqual([2, 2]); // verify and the listing name it; the others name its package
  expect(requests.map((request) => request.replace(/[0-9a-f-]{36}|one|two/, '*').replace(/\?.*/, '')).sort()).toEqual(
    [
      'GET /audit/streams/',
      ...Array(2).fill('GET /audit/entries/'),
      ...Array(2).fill('GET /audit/evidence/*/json'),
      ...Array(2).fill('GET /audit/evidence/*/pdf'),
      ...Array(2).fill('GET /audit/evidence/*/summary'),
      ...Array(2).fill('POST /audit/evidence/generate'),
      ...Array(2).fill('POST /audit/streams/*/verify'),
    ].sort(),
  );
});

describe('a pinned contract', () => {
  test('goes into every bundle, into the records, and is what they are verified by', async () => {
    const file = pin();
    const { code, document } = await exportAll(['--contract', file]);
    expect([code, statuses(document)]).toEqual([0, { one: 'verified', two: 'verified' }]);
    expect(document.source).toMatchObject({ contract: 'pinned', contract_sha256: sha256(readFileSync(file)) });
    const bundle = join(directory, 'evidence-archive', document.streams[0].bundle.key);
    await run('unzip', ['-q', bundle], directory);
    const folder = join(directory, readdirSync(directory).find((name) => name.startsWith('one-')) ?? '');
    expect(readFileSync(join(folder, 'data/contract.yaml'))).toEqual(readFileSync(file));
    expect(readFileSync(join(folder, 'README.txt'), 'utf8')).toContain('hex(sha-256(jcs(entry - [hash, seal])))');
    writeFileSync(file, 'gone');
    const verified = await evidence(['verify', 'evidence-archive', '--json'], { cwd: directory });
    expect([verified.code, JSON.parse(verified.stdout).outcome]).toEqual([0, 'verified']);
  });

  test('is what a bare package is read by, where it is given', async () => {
    const entries = chainOf(3).map(({ hash, ...entry }) => ({ ...entry, digest: hash }));
    const sent = { ...packageOf(chainOf(3)), entries };
    writeFileSync(join(directory, 'package.json'), JSON.stringify(sent));
    const file = pin((description) => {
      description.entry.digest = 'digest';
      if (description.digest.recipe !== null)
        description.digest.recipe.preimage = [{ json: { form: 'rfc8785', without: ['digest', 'seal'] } }];
    });
    const verify = (...args: string[]) => evidence(['verify', 'package.json', ...args], { cwd: directory });
    expect(await verify('--contract', file)).toMatchObject({ code: 0 });
    expect(await verify()).toMatchObject({ code: 3, stdout: expect.stringContaining('contract/drift') });
  });
});

describe('what differs from a pinned contract is drift: that stream is incomplete, and the others are not', () => {
  const ofStream =
    (streamId: string, change: (stream: Record<string, unknown>) => void): Lie =>
    (path, answer) => {
      if (!path.includes('/streams/?')) return undefined;
      change(answer.data.find((stream: { stream_id: string }) => stream.stream_id === streamId));
      return answer;
    };
  const onPath =
    (part: RegExp, change: (answer: Record<string, unknown>) => void): Lie =>
    (path, answer) => {
      if (!part.test(path) || (answer.stream_id !== undefined && answer.stream_id !== 'two')) return undefined;
      change(answer);
      return answer;
    };
  const table: [string, Lie, RegExp][] = [
    ['a count that is text', ofStream('two', (stream) => (stream['entry_count'] = '5')), /"entry_count" of a stream/],
    ['a count that is gone', ofStream('two', (stream) => delete stream['entry_count']), /"entry_count" of a stream/],
    ['a head that is a number', ofStream('two', (stream) => (stream['head_hash'] = 7)), /"head_hash" of a stream/],
    [
      'a package without an id',
      onPath(/generate$/, (answer) => delete answer['package_id']),
      /"package_id" of the pack/,
    ],
    ['a status nobody knows', onPath(/generate$/, (answer) => (answer['status'] = 'soon')), /"status" of the package/],
  ];
  test.each(table)('%s', async (_words, lie, reason) => {
    const { code, document, stderr } = await exportAll(['--contract', pin()], { lie });
    expect([code, statuses(document)]).toEqual([3, { one: 'verified' }]);
    expect(document.failed).toEqual([
      {
        stream_id: 'two',
        code: 'contract',
        reason: expect.stringMatching(reason),
        next_step: expect.stringContaining('evidence probe'),
      },
    ]);
    expect(stderr).toMatch(reason);
  });

  test('in the entries of a package', async () => {
    const file = pin((description) => {
      description.entry.timestamp = 'recorded_at';
    });
    const { code, document } = await exportAll(['--contract', file, '--stream', 'two']);
    expect([code, statuses(document)]).toEqual([3, { two: 'incomplete' }]);
    expect(document.streams[0].findings[0]).toMatchObject({
      code: 'contract/drift',
      message: expect.stringContaining('"recorded_at" of an entry'),
      next_step: expect.stringContaining('evidence probe'),
    });
  });
});

describe('nothing is attempted', () => {
  const table: [string, Lie][] = [
    ['a list under another name', (path, answer) => (path.includes('/streams/?') ? { items: answer.data } : undefined)],
    [
      'streams of another shape',
      (path, answer) =>
        path.includes('/streams/?')
          ? { ...answer, data: answer.data.map((stream: object) => ({ ...stream, entry_count: undefined })) }
          : undefined,
    ],
  ];
  test.each(table)('with a service that does not speak the default contract: %s', async (_words, lie) => {
    const { code, document, requests } = await exportAll([], { lie });
    expect([code, document.error]).toEqual([
      2,
      expect.objectContaining({ code: 'contract', next_step: expect.stringContaining('run `evidence probe`') }),
    ]);
    expect(requests).toHaveLength(1);
    expect(readdirSync(join(directory, 'evidence-archive'), { recursive: true })).toEqual(
      expect.not.arrayContaining([expect.stringContaining('.zip')]),
    );
  });

  test('with a contract file that is wrong, which is named with the place', async () => {
    const file = pin();
    writeFileSync(file, readFileSync(file, 'utf8').replace('"first_sequence": 1', '"first_sequence": 7'));
    const { code, document, requests } = await exportAll(['--contract', file]);
    expect([code, document.error.message]).toEqual([
      2,
      expect.stringMatching(/contract\.yaml:\d+:\d+: entry\.first_s/),
    ]);
    expect(requests).toEqual([]);
  });
});

describe('a service whose packages hold the whole account', () => {
  const streams = ['a', 'b', 'c'];
  const chains = new Map(streams.map((id, index) => [id, index === 2 ? [] : chainOf(20 + index, { stream_id: id })]));
  const head = (id: string) => chains.get(id)?.at(-1);
  const record = (id: string) => ({
    stream_id: id,
    entry_count: chains.get(id)?.length,
    head_sequence: head(id)?.sequence ?? 0,
    head_hash: head(id)?.hash ?? null,
    verified: false,
    last_checked_at: null,
  });

  async function serve(entries: SentEntry[]) {
    const account = { ...packageOf([]), stream: null, entry_count: entries.length, entries };
    return startFaultServer(({ path, method, body }) => {
      if (path.startsWith('/streams/?')) return json({ data: streams.map(record), next_cursor: null });
      if (path === '/evidence/generate' && body === '{}') return json({ package_id: 'pkg-1', status: 'ready' });
      if (path === '/evidence/pkg-1/json') return json(account);
      return { status: 404, body: `no ${method} ${path}` };
    });
  }
  const describeAccount = (description: Description) => {
    description.generate.scope = 'account';
    description.generate.body = {};
    description.generate.fields.stream_id = null;
    description.verify = null;
    description.downloads = { json: '/evidence/{package_id}/json', pdf: null, summary: null };
    description.summary = null;
  };
  const interleaved = streams.flatMap((id) => chains.get(id) ?? []).sort((x, y) => x.sequence - y.sequence);

  test('exports a stream that the list of streams hides, and says so', async () => {
    const hidden = chainOf(5, { stream_id: 'hidden' });
    const server = await serve([...interleaved, ...hidden]);
    const env = { EVIDENCE_AUDIT_URL: server.url, EVIDENCE_API_KEY: 'key' };
    const archive = join(directory, 'hidden');
    const args = ['export', '--all-time', '--json', '--archive', archive, '--contract', pin(describeAccount)];
    const { code, stdout } = await evidence(args, { cwd: directory, env });
    await server.close();
    const { streams: exported, vanished } = JSON.parse(stdout);
    expect([code, exported.map(({ stream_id }: { stream_id: string }) => stream_id)]).toEqual([
      1,
      ['a', 'b', 'c', 'hidden'],
    ]);
    expect(vanished).toMatchObject([{ stream_id: 'hidden', entries: 5, head: { sequence: 5 } }]);
    const verified = await evidence(['verify', archive, '--json'], { cwd: directory });
    const [run] = JSON.parse(verified.stdout).runs;
    // The run names the finding, so no object counts as contradicting it.
    expect([verified.code, run.findings]).toEqual([1, []]);
  });

  test.each([
    ['before the hidden stream was', ['a', 'b', 'c']],
    ['after the hidden stream was, and before a listed one', ['b', 'c', 'hidden']],
  ])('finds a stream that the list hides where an export goes on that stopped %s', async (_words, kept) => {
    const server = await serve([...interleaved, ...chainOf(5, { stream_id: 'hidden' })]);
    const env = { EVIDENCE_AUDIT_URL: server.url, EVIDENCE_API_KEY: 'key' };
    const archive = join(directory, 'stopped');
    const args = ['export', '--all-time', '--json', '--archive', archive];
    const exportAgain = () => evidence([...args, '--contract', pin(describeAccount)], { cwd: directory, env });
    const first = await exportAgain();
    const left = new Set([
      'asked.json',
      ...kept.map(slugOf).flatMap((slug) => [`${slug}.zip`, `${slug}.json`, `${slug}.PARTIAL.zip`]),
    ]);
    for (const file of readdirSync(join(archive, 'runs'), { recursive: true, withFileTypes: true }))
      if (file.isFile() && !left.has(file.name)) rmSync(join(file.parentPath, file.name));
    rmSync(join(archive, 'ledger'), { recursive: true });
    const { code, stdout, stderr } = await exportAgain();
    await server.close();
    const ids = (rows: { stream_id: string }[]) => rows.map(({ stream_id }) => stream_id);
    expect([first.code, code, stderr]).toEqual([1, 1, expect.any(String)]);
    const { streams: exported, vanished } = JSON.parse(stdout);
    expect([ids(exported), ids(vanished)]).toEqual([['a', 'b', 'c', 'hidden'], ['hidden']]);
    const verified = await evidence(['verify', archive, '--json'], { cwd: directory });
    const [run] = JSON.parse(verified.stdout).runs;
    expect([verified.code, run.findings]).toEqual([1, []]);
  });

  test('is asked for one package, and every stream is verified from it, now and later', async () => {
    const server = await serve(interleaved);
    const env = { EVIDENCE_AUDIT_URL: server.url, EVIDENCE_API_KEY: 'key' };
    const args = ['export', '--all-time', '--json', '--contract', pin(describeAccount)];
    const { code, stdout, stderr } = await evidence(args, { cwd: directory, env });
    await server.close();
    const { streams: exported } = JSON.parse(stdout);
    expect([code, stderr]).toEqual([0, expect.any(String)]);
    expect(
      exported.map((stream: { stream_id: string; status: string; entries: number }) => [
        stream.stream_id,
        stream.status,
        stream.entries,
      ]),
    ).toEqual([
      ['a', 'verified', 20],
      ['b', 'verified', 21],
      ['c', 'empty', 0],
    ]);
    expect(exported[0].claims).toMatchObject({
      order: { state: 'proved' },
      content: { state: 'proved' },
      completeness: { state: 'proved', basis: expect.stringContaining('20 entries and head') },
    });
    expect(server.requests.map(({ method, path }) => `${method} ${path.replace(/\?.*/, '')}`)).toEqual([
      'GET /streams/',
      'POST /evidence/generate',
      'GET /evidence/pkg-1/json',
    ]);
    const verified = await evidence(['verify', 'evidence-archive'], { cwd: directory });
    expect([verified.code, verified.stdout]).toEqual([0, expect.stringContaining('verified')]);
  });

  test('and one entry that is missing is found in its own stream only', async () => {
    const server = await serve(interleaved.filter(({ stream_id, sequence }) => stream_id !== 'b' || sequence !== 7));
    const env = { EVIDENCE_AUDIT_URL: server.url, EVIDENCE_API_KEY: 'key' };
    const args = ['export', '--all-time', '--json', '--contract', pin(describeAccount)];
    const { code, stdout } = await evidence(args, { cwd: directory, env });
    await server.close();
    const document = JSON.parse(stdout);
    expect([code, statuses(document)]).toEqual([1, { a: 'verified', b: 'refuted', c: 'empty' }]);
    expect(document.streams[1].findings).toContainEqual(expect.objectContaining({ code: 'order/gap', from: 7, to: 7 }));
  });
});
