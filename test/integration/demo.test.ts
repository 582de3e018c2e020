import { mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Ended, evidence } from '../support/evidence.ts';
import { run } from '../support/process.ts';

/** A checkout with a history over four folders, in which the demonstration is run twice. */
let checkout: string;
let temporary: string;
let first: Ended;
let second: Ended;

beforeAll(async () => {
  checkout = mkdtempSync(join(tmpdir(), 'demo-test-'));
  temporary = mkdtempSync(join(tmpdir(), 'demo-tmp-'));
  await run('git', ['init', '-q'], checkout);
  for (const [index, folder] of ['src', 'test', 'docs', 'lib', 'src'].entries()) {
    mkdirSync(join(checkout, folder), { recursive: true });
    writeFileSync(join(checkout, folder, `${index}.txt`), `${index}`);
    await run('git', ['add', '.'], checkout);
    const identity = ['-c', 'user.name=Ana', '-c', 'user.email=ana@example.test'];
    await run('git', [...identity, 'commit', '-q', '-m', `change ${index}`], checkout);
  }
  first = await evidence(['demo'], { cwd: checkout, env: { TMPDIR: temporary } });
  second = await evidence(['demo'], { cwd: checkout, env: { TMPDIR: temporary } });
});

describe('the first run', () => {
  test('exports what really happened, and verifies it', () => {
    expect(first.code, first.stderr).toBe(0);
    for (const [stream, entries] of [
      ['git/src', 2],
      ['git/test', 1],
      ['git/docs', 1],
      ['git/lib', 1],
    ])
      expect(first.stdout).toMatch(new RegExp(`^${stream} +${entries} .* verified$`, 'm'));
    expect(first.stdout).toMatch(/^npm +\d{2,} .* verified$/m);
    expect(first.stdout).toMatch(/Objects +\d+ checked: 0 missing, 0 altered, 0 unexpected/);
  });

  test('names what to open next, and it is there', () => {
    const [bundle = ''] = /evidence-archive\S+\.zip/.exec(first.stdout) ?? [];
    expect(readdirSync(join(checkout, 'evidence-archive/runs/demo/streams'))).toContain(bundle.split('/').at(-1));
    expect(first.stdout).toMatch(/^ {2}evidence-archive\/runs\/demo\/report\.pdf$/m);
    expect(readdirSync(join(checkout, 'evidence-archive/runs/demo'))).toContain('report.pdf');
  });

  test('leaves nothing behind but the archive', () => {
    expect(readdirSync(temporary)).toEqual([]);
  });
});

test('the second run says what it did: verified the first again', () => {
  expect(second.code).toBe(0);
  expect(second.stdout).toContain('already holds the finalized run "demo"');
  expect(second.stdout).toMatch(/Outcome +verified/);
});

test('--json is one document', async () => {
  const { code, stdout } = await evidence(['demo', '--archive', 'other', '--json'], {
    cwd: checkout,
    env: { TMPDIR: temporary },
  });
  const { run: record, verification } = JSON.parse(stdout);
  expect([code, record.outcome, verification.outcome]).toEqual([0, 'verified', 'verified']);
});
