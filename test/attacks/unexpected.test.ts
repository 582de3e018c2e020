import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { generateIdentity, identityToRecipient } from 'age-encryption';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { evidence } from '../support/evidence.ts';
import { garbleSummary, type LyingService, lieAbout } from '../support/lying-service.ts';
import { type KeyFiles, makeKey } from '../support/openssl-keys.ts';
import { postEntries, type ServedPlatform, servePlatform, someEntries } from '../support/platform.ts';

// Each test runs several processes, on machines that do other work too.

const folder = mkdtempSync(join(tmpdir(), 'unexpected-attacks-'));
const HEX = 'd'.repeat(64);

let platform: ServedPlatform;
let service: LyingService;
let lie = garbleSummary;
let key: KeyFiles;
/** Archives to copy: one with plain bundles and an earlier attempt, and one with encrypted bundles. */
let made: { plain: string; encrypted: string };
let directory: string;

const inArchive = (path: string) => join(directory, 'evidence-archive', path);

function configure(root: string, more: object): void {
  writeFileSync(join(root, 'evidence.yaml'), JSON.stringify({ sign: { key_file: key.file }, ...more }));
}

async function exported(root: string, code: number): Promise<void> {
  const words = ['export', '--request', 'R1', '--all-time'];
  const env = { ...platform.env, EVIDENCE_AUDIT_URL: service.auditUrl };
  const finished = await evidence(words, { cwd: root, env });
  expect(finished.code, finished.stderr).toBe(code);
}

interface Problem {
  code: string;
  key: string;
}

async function verify(): Promise<{ code: number; findings: string[] }> {
  const words = ['verify', 'evidence-archive', '--json', '--public-key', key.publicFile];
  const { stdout, stderr } = await evidence(words, { cwd: directory });
  const report = stdout === '' ? expect.unreachable(stderr) : JSON.parse(stdout);
  const { missing, altered, unexpected } = report.objects as Record<string, Problem[]>;
  const all = [...(missing ?? []), ...(altered ?? []), ...(unexpected ?? [])];
  return {
    code: report.exit_code,
    findings: [...new Set(all.map((finding) => `${finding.code} ${finding.key}`))].sort(),
  };
}

function put(path: string, content: Uint8Array | string): void {
  mkdirSync(dirname(inArchive(path)), { recursive: true });
  writeFileSync(inArchive(path), content);
}

const find = (pattern: RegExp) =>
  readdirSync(inArchive('.'), { recursive: true, encoding: 'utf8' }).find((path) => pattern.test(path)) ??
  expect.unreachable(`nothing is named ${pattern}`);

beforeAll(async () => {
  platform = await servePlatform();
  await postEntries(platform, someEntries('payments', 6));
  key = await makeKey(folder, 'ours.pem', 'ed25519');
  made = { plain: join(folder, 'plain'), encrypted: join(folder, 'encrypted') };
  for (const root of Object.values(made)) mkdirSync(root);
  service = await lieAbout(platform.auditUrl, (path, answer) => lie(path, answer));
  configure(made.plain, { verify: { require: ['order', 'agreement'] } });
  await exported(made.plain, 3);
  lie = () => undefined;
  await exported(made.plain, 0);
  configure(made.encrypted, { archive: { encrypt_to: [await identityToRecipient(await generateIdentity())] } });
  await exported(made.encrypted, 0);
});
afterAll(() => {
  service.close();
  return platform.stop();
});
beforeEach(() => {
  directory = mkdtempSync(join(folder, 'copy-'));
});

test('all that lies under a finalized run is named, an earlier try among it, and verifies', async () => {
  cpSync(made.plain, directory, { recursive: true });
  const { left_over: leftOver } = JSON.parse(readFileSync(inArchive('runs/R1/run.json'), 'utf8'));
  const names = leftOver.map((object: { key: string }) => object.key.replace(/.*\//, '').replace(/-[0-9a-f]{8}/, ''));
  expect(names).toEqual(['attempt.json', 'payments.zip', 'report.pdf']);
  expect(await verify()).toEqual({ code: 0, findings: [] });
});

describe('added to a finalized, signed run', () => {
  test.each<[words: string, of: keyof typeof made, path: string, content: string]>([
    ['what is said of an encrypted bundle', 'plain', `runs/R1/encrypted/${HEX}.json`, '{}'],
    ['what is said of another encrypted bundle', 'encrypted', `runs/R1/encrypted/${HEX}.json`, 'FORGED'],
    ['a record of a try', 'plain', 'runs/R1/attempts/2026-01-01T00-00-00.000Z/attempt.json', '{}'],
    ['a bundle of a try', 'plain', 'runs/R1/attempts/2026-01-01T00-00-00.000Z/payments.zip', 'x'],
    ['a file beside an honest try', 'plain', 'BESIDE/notes.txt', 'x'],
    ['a bundle', 'plain', 'runs/R1/streams/payments-00000000.zip', 'x'],
    ['a record of a stream', 'plain', 'runs/R1/streams/payments-00000000.json', '{}'],
    ['a report', 'plain', 'runs/R1/assessment-results.json', '{}'],
  ])('%s is unexpected', async (_words, of, path, content) => {
    cpSync(made[of], directory, { recursive: true });
    const place = path.replace('BESIDE', () => dirname(find(/attempt\.json$/)));
    put(place, content === 'FORGED' ? readFileSync(inArchive(find(/encrypted\/[0-9a-f]+\.json$/))) : content);
    expect(await verify()).toEqual({ code: 1, findings: [`object/unexpected ${place}`] });
  });
});

describe('what a finalized run names beside its evidence', () => {
  test.each<[words: string, of: keyof typeof made, pattern: RegExp]>([
    ['the record of a try', 'plain', /attempt\.json$/],
    ['the bundle of a try', 'plain', /attempts\/.*\.zip$/],
    ['what is said of an encrypted bundle', 'encrypted', /encrypted\/[0-9a-f]+\.json$/],
  ])('%s cannot be altered or taken away', async (_words, of, pattern) => {
    cpSync(made[of], directory, { recursive: true });
    const path = find(pattern);
    chmodSync(inArchive(path), 0o600);
    writeFileSync(inArchive(path), `${readFileSync(inArchive(path), 'latin1')} `, 'latin1');
    expect(await verify()).toEqual({ code: 1, findings: [`object/altered ${path}`] });
    rmSync(inArchive(path));
    expect(await verify()).toEqual({ code: 1, findings: [`object/missing ${path}`] });
  });
});

test('a bundle that comes from elsewhere than its run says is refuted', async () => {
  cpSync(made.plain, directory, { recursive: true });
  const path = inArchive('runs/R1/run.json');
  chmodSync(path, 0o600);
  writeFileSync(path, readFileSync(path, 'utf8').replace(/"audit_url": "[^"]*"/, '"audit_url": "http://elsewhere"'));
  const { code, findings } = await verify();
  expect([code, findings]).toEqual([1, expect.arrayContaining(['record/differs runs/R1/run.json'])]);
});
