import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { sha256 } from '../../src/core/digest.ts';
import { shellLines } from '../support/documents.ts';
import { evidence } from '../support/evidence.ts';
import { postEntries, servePlatform, someEntries } from '../support/platform.ts';
import { nodeToEnd, PLATFORM, run } from '../support/process.ts';

/** Folder with a bundle, where an auditor works with common programs. */
let folder: string;
let zip: string;
let bag: string;
/** Folder with seal keys, named by id. */
let sealKeys: string;
let record: {
  bundle: { sha256: string; identity: string };
  head: { hash: string };
  package_id: string;
  claims: Record<string, unknown>;
};
/** A low number, because a shell starts several programs for each entry. */
const ENTRIES = 40;
const STREAM = 'кадры/Zoë 🔐';

beforeAll(async () => {
  const platform = await servePlatform();
  folder = mkdtempSync(join(tmpdir(), 'tools-test-'));
  try {
    await postEntries(platform, someEntries(STREAM, ENTRIES));
    const url = `${platform.auditUrl}/streams/${encodeURIComponent(STREAM)}/checkpoints`;
    const checkpoint = await fetch(url, { method: 'POST', headers: { authorization: `Bearer ${platform.apiKey}` } });
    expect(checkpoint.status).toBe(201);
    const { code, stdout, stderr } = await evidence(['export', '--all-time', '--json'], {
      cwd: folder,
      env: platform.env,
    });
    expect(code, stderr).toBe(0);
    const run_ = JSON.parse(stdout);
    [record] = run_.streams;
    zip = join(folder, 'evidence-archive', run_.streams[0].bundle.key);
    await run('cp', [join(platform.dataDir, 'authority/root.pem'), folder], folder);
    sealKeys = join(folder, 'keys');
    await nodeToEnd(PLATFORM, ['seal-keys', 'write', '--data', platform.dataDir, '--out', sealKeys], { cwd: folder });
  } finally {
    await platform.stop();
  }
  await run('unzip', ['-q', zip, '-d', folder], folder);
  bag = join(folder, readdirSync(folder).find((name) => /-[0-9a-f]{8}$/.test(name)) ?? '');
});

test('unzip finds the zip intact', async () => {
  expect(await run('unzip', ['-t', zip], folder)).toContain('No errors detected');
});

test('sha256sum confirms both manifests, and that they name every file', async () => {
  const payload = await run('sha256sum', ['--strict', '-c', 'manifest-sha256.txt'], bag);
  const tags = await run('sha256sum', ['--strict', '-c', 'tagmanifest-sha256.txt'], bag);
  const named = `${payload}${tags}`
    .trim()
    .split('\n')
    .map((line) => line.replace(/: OK$/, ''));
  const files = readdirSync(bag, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(bag.length + 1));
  expect([...named, 'tagmanifest-sha256.txt'].sort()).toEqual(files.sort());
});

test('the digests in the run record are those that sha256sum computes', async () => {
  expect((await run('sha256sum', [zip], folder)).slice(0, 64)).toBe(record.bundle.sha256);
  expect((await run('sha256sum', ['manifest-sha256.txt'], bag)).slice(0, 64)).toBe(record.bundle.identity);
});

describe('the PDF', () => {
  test('is sound for qpdf', async () => {
    expect(await run('qpdf', ['--check', 'data/evidence.pdf'], bag)).toContain('No syntax or stream encoding errors');
  });

  test('says the facts of the package to pdftotext', async () => {
    const text = await run('pdftotext', ['-layout', 'data/evidence.pdf', '-'], bag);
    expect(text).toContain(record.head.hash);
    expect(text).toContain(record.package_id);
    expect(text).toMatch(/Entries\s+40/);
    expect(text).toContain('Zoë Müller');
  });
});

test('openssl accepts the time-stamp token for the head under the root of the authority', async () => {
  const [token = ''] = readdirSync(join(bag, 'data/checkpoints'));
  expect(token).toBe(`${ENTRIES}.tsr`);
  const args = [
    'ts',
    '-verify',
    '-digest',
    record.head.hash,
    '-in',
    `data/checkpoints/${token}`,
    '-CAfile',
    '../root.pem',
  ];
  expect(await run('openssl', args, bag)).toContain('Verification: OK');
});

describe('evidence verify of the bundle alone, offline', () => {
  const anchor = async (...flags: string[]) => {
    const { code, stdout, stderr } = await evidence(['verify', zip, '--json', ...flags], { cwd: folder });
    expect(stderr).toBe('');
    const { streams, findings: ofBundle } = JSON.parse(stdout);
    return { code, claims: streams[0].claims, findings: streams[0].findings, ofBundle };
  };

  test('without roots the anchor is unproved and says why; all else is as it was at the export', async () => {
    const { code, claims, ofBundle } = await anchor();
    const { continuity, completeness, ...derived } = claims;
    const { continuity: _continuity, completeness: _completeness, ...recorded } = record.claims;
    expect([code, ofBundle, derived]).toEqual([0, [], recorded]);
    for (const claim of [continuity, completeness])
      expect(claim).toMatchObject({
        state: 'recorded',
        recorded: 'proved',
        reason: expect.stringMatching(/^recorded as proved, and (?:the earlier runs are not here|nothing here shows)/),
      });
    expect(claims.anchor).toEqual({
      state: 'unproved',
      code: 'no-root',
      reason: expect.stringMatching(/no time-stamping authority is trusted here: pin its root/),
    });
  });

  test('with the root of the authority it is proved, up to which entry and with how many after it', async () => {
    const { code, claims } = await anchor('--timestamp-roots', 'root.pem');
    expect([
      code,
      claims.anchor.state,
      claims.anchor.anchored_through,
      claims.anchor.entries_after_last_anchor,
    ]).toEqual([0, 'proved', ENTRIES, 0]);
    expect(claims.anchor.basis).toMatch(/entry 40 existed at .* says .*not an external witness/);
  });

  test('with another root it is refuted', async () => {
    const other = resolve(import.meta.dirname, '../vectors/anchor/root-ec.pem');
    const { code, claims, findings } = await anchor('--timestamp-roots', other);
    expect([code, claims.anchor.state, findings[0].code]).toEqual([0, 'unproved', 'anchor/unknown-issuer']);
  });
});

test('the README explains the bundle, its claims and its limits', () => {
  const text = readFileSync(join(bag, 'README.txt'), 'utf8');
  expect(text).toContain(STREAM);
  expect(text).toMatch(/order +proved: 40 entries, 1 to 40/);
  expect(text).toMatch(/seal +unproved: no seal key was given/);
  expect(text).toContain('that the service logged everything that happened');
});

describe('the lines that README.txt gives', () => {
  /** Returns the output of a step's lines, run in a bag. */
  const follow = (step: number, cwd: string) => {
    const steps = readFileSync(join(bag, 'README.txt'), 'utf8').split(/^ {2}\d\. /m);
    const lines = steps[step]?.match(/^ {7}\S.*$/gm)?.join('\n') ?? 'false';
    return run('sh', ['-c', `( ${lines}\n) 2>&1 || true`], cwd);
  };

  test('show that the bundle is whole, and its token good', async () => {
    expect(await follow(1, bag)).toMatch(/^(\S+: OK\n){9,}$/);
    expect([await follow(2, bag), await follow(3, bag)]).toEqual(['', '']);
    expect(await follow(4, bag)).toContain('Verification: OK');
    expect(await follow(5, bag)).toBe('');
  });

  test.each([
    ['a link', /("sequence":7,.*?"prev_hash":")...../, '$100000', '7\n', /^$/],
    ['what was done', /("sequence":7,.*?"metadata":)/, '$1 1,"x":', '', /^$/],
    ['a number', /"sequence":7,/, '"sequence":70,', '70\n8\n', /^7c7$/m],
    ['a hash', /("sequence":7,.*?"hash":")...../, '$100000', '8\n', /^7c7$/m],
  ])('show that somebody changed %s', async (_what, from, to, links, listed) => {
    const copy = join(mkdtempSync(join(folder, 'changed-')), 'bag');
    await run('cp', ['-r', bag, copy], folder);
    const file = join(copy, 'data/evidence.json');
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replace(from, to));
    expect(await follow(1, copy)).toContain('data/evidence.json: FAILED');
    expect(await follow(2, copy)).toBe(links);
    expect(await follow(3, copy)).toMatch(/^7c7$/m);
    expect(await follow(5, copy)).toMatch(listed);
  });
});

describe('the lines of the topic verify-by-hand', () => {
  const sections = shellLines('verify-by-hand', 0).split(/\n(?=# )/);
  const [setUp = ''] = sections;
  const slug = () => bag.split('/').at(-1) ?? '';

  /** Runs one of the paragraphs where the first ones led. */
  const follow = async (name: string) => {
    const section = sections.find((text) => text.startsWith(`# ${name}`)) ?? 'false';
    return run('bash', ['-euo', 'pipefail', '-c', `export KEYS=${sealKeys}\ncd ${slug()}\n${section}`], byHand);
  };
  let byHand: string;

  beforeAll(async () => {
    byHand = mkdtempSync(join(tmpdir(), 'by-hand-'));
    await run('cp', [zip, join(folder, 'root.pem'), byHand], byHand);
    const script = setUp.replace('payments-df384ae9', slug());
    expect(script).not.toBe(setUp);
    expect(await run('bash', ['-euo', 'pipefail', '-c', script], byHand)).toBe('');
  });

  test.each(['Nothing was changed', 'order', 'content', 'seal'])('%s: prints nothing', async (name) => {
    expect(await follow(name)).toBe('');
  });

  test('anchor: openssl accepts the token', async () => {
    expect(await follow('anchor')).toBe('Verification: OK\n');
  });

  test('continuity, completeness and agreement say what the claims rest on', async () => {
    expect(await follow('continuity')).toBe(`1\n${'0'.repeat(64)}\n[]\n`);
    expect(await follow('completeness')).toBe('');
    const pdf = await follow('agreement');
    expect(pdf).toMatch(
      new RegExp(`Package +${record.package_id}\n *Entries +${ENTRIES}\n *Head hash +${record.head.hash}`),
    );
  });

  test('an edited entry shows in content, a changed link in order, another key in seal', async () => {
    const path = join(byHand, slug(), 'data/evidence.json');
    const intact = readFileSync(path, 'utf8');
    writeFileSync(path, intact.replace('svc-backup', 'svc-bakcup'));
    await expect(follow('content')).rejects.toThrow(/ended with 1: \d+c\d+/);
    writeFileSync(path, intact.replace(/("sequence":7,.*?"prev_hash":")...../, '$100000'));
    expect(await follow('order')).toBe('6\n');
    writeFileSync(path, intact);
    for (const id of readdirSync(sealKeys)) writeFileSync(join(sealKeys, id), `hex:${'00'.repeat(32)}\n`);
    await expect(follow('seal')).rejects.toThrow(/ended with 1: /);
  });
});

test('python recomputes every digest and link of data/evidence.json', async () => {
  const program = `
import hashlib, json
previous = '0' * 64
for entry in json.load(open('data/evidence.json', encoding='utf-8'))['entries']:
    body = {name: value for name, value in entry.items() if name not in ('hash', 'seal')}
    text = json.dumps(body, sort_keys=True, separators=(',', ':'), ensure_ascii=False)
    assert entry['prev_hash'] == previous
    previous = hashlib.sha256(text.encode()).hexdigest()
    assert entry['hash'] == previous
print(previous)`;
  expect((await run('python3', ['-c', program], bag)).trim()).toBe(record.head.hash);
});

test('the transfer log accounts for every file that was received', () => {
  const log = JSON.parse(readFileSync(join(bag, 'data/transfer-log.json'), 'utf8'));
  const received = log.steps.filter((step: { file?: string }) => step.file !== undefined);
  expect(received.map((step: { file: string }) => step.file)).toEqual([
    'data/evidence.json',
    'data/evidence.pdf',
    'data/summary.json',
  ]);
  for (const { file, exchange } of received) {
    const bytes = readFileSync(join(bag, file));
    expect([exchange.sha256, exchange.bytes, exchange.status]).toEqual([sha256(bytes), bytes.length, 200]);
  }
});
