import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runExport } from '../../src/exporter/cli/commands/export.ts';
import { runKeygen } from '../../src/exporter/cli/commands/keygen.ts';
import { runVerify } from '../../src/exporter/cli/commands/verify.ts';
import { carryOut } from '../support/command.ts';
import { changeSeal } from '../support/database-tampering.ts';
import { postEntries, type ServedPlatform, servePlatform, someEntries } from '../support/platform.ts';
import { nodeToEnd, PLATFORM } from '../support/process.ts';

/** Readers whose keys and roots differ from the exporter's: the archive does not count as altered. */
const directory = mkdtempSync(join(tmpdir(), 'other-trust-'));
const WRONG_KEY = join(directory, 'wrong.key');
const WRONG_ROOT = join(import.meta.dirname, '../vectors/anchor/root-ec.pem');
let platform: ServedPlatform;
let sealKeys: string[];
let root: string;

beforeAll(async () => {
  platform = await servePlatform();
  await postEntries(platform, someEntries('iam', 12));
  const answer = await fetch(`${platform.auditUrl}/streams/iam/checkpoints`, {
    method: 'POST',
    headers: { authorization: `Bearer ${platform.apiKey}` },
  });
  expect(answer.status).toBe(201);
  const keys = join(directory, 'keys');
  await nodeToEnd(PLATFORM, ['seal-keys', 'write', '--data', platform.dataDir, '--out', keys], { cwd: directory });
  sealKeys = readdirSync(keys).map((name) => `${name.replace(/\.\w+$/, '')}=${join(keys, name)}`);
  root = join(platform.dataDir, 'authority', 'root.pem');
  writeFileSync(WRONG_KEY, 'another key');
  await carryOut(runKeygen, { out: 'signing.pem' }, directory);
});
afterAll(async () => {
  await platform.stop();
  rmSync(directory, { recursive: true, force: true });
});

const MEANS = {
  nothing: () => ({}),
  'the keys and the root': () => ({ 'seal-key': sealKeys, 'timestamp-roots': root }),
  'the keys': () => ({ 'seal-key': sealKeys }),
  'a wrong key': () => ({ 'seal-key': sealKeys.map((pair) => `${pair.split('=')[0]}=${WRONG_KEY}`) }),
  'a wrong root': () => ({ 'timestamp-roots': WRONG_ROOT }),
};
type By = keyof typeof MEANS;

/** Adds the camel-case names that yargs sets and the configuration reads. */
function inCamelCase(flags: object): object {
  const named = Object.entries(flags).map(([name, value]) => [
    name.replace(/-(.)/g, (_all, c) => c.toUpperCase()),
    value,
  ]);
  return Object.fromEntries(named);
}

async function exportBy(by: By, archive: string): Promise<number> {
  const flags = { 'all-time': true, request: archive, archive, ...inCamelCase(MEANS[by]()) };
  writeFileSync(join(directory, 'evidence.yaml'), 'sign: { key_file: signing.pem }\n');
  const { code } = await carryOut(runExport, flags, directory, { environment: platform.env });
  return code;
}

const flagsOf = (by: By, archive: string) => ({
  targets: [archive],
  'public-key': ['signing.pem.pub'],
  ...MEANS[by](),
});

async function verifyBy(by: By, archive: string) {
  const flags = flagsOf(by, archive);
  const { code, document } = await carryOut(runVerify, flags, directory);
  const [run] = document.runs;
  const { claims, findings, recorded_refutation } = run.streams[0];
  return {
    code,
    altered: document.objects.altered,
    signatures: document.signatures.state,
    states: [claims.seal.state, claims.anchor.state, claims.agreement.state, claims.continuity.state],
    codes: [...run.findings, ...findings].map((one: { code: string }) => one.code),
    recorded: recorded_refutation?.map(({ claim }: { claim: string }) => claim) ?? [],
  };
}

const WHOLE = { altered: [], signatures: 'proved', recorded: [] as string[] };

describe('an archive that nobody touched', () => {
  beforeAll(async () => {
    expect(await exportBy('the keys and the root', 'sound')).toBe(0);
  });

  test.each<[By, number, string[], string[]]>([
    ['nothing', 0, ['recorded', 'unproved', 'proved', 'proved'], []],
    ['the keys and the root', 0, ['proved', 'proved', 'proved', 'proved'], []],
    ['a wrong key', 1, ['refuted', 'unproved', 'unproved', 'proved'], ['seal/mismatch']],
    ['a wrong root', 0, ['recorded', 'unproved', 'proved', 'proved'], ['anchor/unknown-issuer']],
  ])('verified by %s', async (by, code, states, codes) => {
    expect(await verifyBy(by, 'sound')).toEqual({ ...WHOLE, code, states, codes });
  });
});

describe('an export by what the reader knows to be wrong', () => {
  beforeAll(async () => {
    expect(await exportBy('a wrong key', 'by-key')).toBe(1);
  });

  const WRONG_SEAL = 'seal \\(.*was not made with the key given as .*\\)';
  test.each<[By, string, string, string]>([
    ['the keys', 'by-key', WRONG_SEAL, 'proved here: seal'],
    ['nothing', 'by-key', WRONG_SEAL, 'not checked here: seal'],
  ])('stays refuted by %s, of %s, and says why', async (by, archive, recorded, here) => {
    const { code, stdout } = await carryOut(runVerify, flagsOf(by, archive), directory, { json: false });
    expect(code).toBe(1);
    expect(stdout).toMatch(
      new RegExp(
        `^refuted iam: recorded as refuted by the export: ${recorded}\\. No claim is refuted here; ${here}$`,
        'm',
      ),
    );
    const open = /not checked here: (\w+)/.exec(here)?.[1];
    if (open !== undefined)
      expect(stdout).toMatch(new RegExp(`^\\? ${open}: recorded as refuted, not checked here: `, 'm'));
  });
});

describe('an export under a root of another authority', () => {
  beforeAll(async () => {
    expect(await exportBy('a wrong root', 'by-root')).toBe(0);
  });

  test.each<[By, string]>([
    ['a wrong root', 'unproved'],
    ['nothing', 'unproved'],
    ['the keys and the root', 'proved'],
  ])('is not refuted for ever: verified by %s', async (by, anchor) => {
    const { code, states } = await verifyBy(by, 'by-root');
    expect([code, states[1]]).toEqual([0, anchor]);
  });
});

describe('a seal that was altered at the service', () => {
  beforeAll(async () => {
    changeSeal(platform.dataDir, 'iam', 7);
    expect(await exportBy('the keys', 'with')).toBe(1);
    expect(await exportBy('nothing', 'without')).toBe(0);
  });

  test.each<[By, string, number, string[], string[]]>([
    ['the keys', 'with', 1, ['refuted', 'unproved', 'proved', 'proved'], ['seal/mismatch']],
    ['nothing', 'with', 1, ['recorded', 'unproved', 'unproved', 'proved'], ['agreement/vendor-check-failed']],
    ['the keys', 'without', 1, ['refuted', 'unproved', 'proved', 'proved'], ['seal/mismatch']],
    ['nothing', 'without', 0, ['unproved', 'unproved', 'unproved', 'proved'], ['agreement/vendor-check-failed']],
  ])('is told by %s, of what was exported %s them', async (by, archive, code, states, codes) => {
    const recorded = states[0] === 'recorded' ? ['seal'] : [];
    expect(await verifyBy(by, archive)).toEqual({ ...WHOLE, code, states, codes, recorded });
  });
});
