import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { runVerify } from '../../../../src/exporter/cli/commands/verify.ts';
import { WasmDecoder } from '../../../../src/verifier/decode/wasm/decoder.ts';
import { archivePackage, RUN } from '../../../support/archived-package.ts';
import { chainOf, packageOf } from '../../../support/chain.ts';
import { carryOut } from '../../../support/command.ts';
import { evidence } from '../../../support/evidence.ts';
import { newKey } from '../../../support/signed-archive.ts';

const folder = mkdtempSync(join(tmpdir(), 'target-'));
const valid = resolve(import.meta.dirname, '../../../vectors/chain/valid.json');

beforeAll(async () => {
  const evidence = Buffer.from(JSON.stringify(packageOf(chainOf(3))));
  await archivePackage(join(folder, 'archive'), { bundle: { evidence }, key: newKey() });
  for (const name of ['a.zip', 'a.zip.age']) writeFileSync(join(folder, name), 'not what its name says');
  cpSync(valid, join(folder, 'package.json'));
  writeFileSync(join(folder, 'key.pem'), 'not a key');
  mkdirSync(join(folder, 'empty'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const verify = (target: string, flags: object = {}) => carryOut(runVerify, { targets: [target], ...flags }, folder);

/** Flags without a meaning for a kind of target: the command rejects them before it reads anything. */
const UNUSED: [flags: object, targets: string[], says: RegExp][] = [
  [
    { 'public-key': ['nope.pem'] },
    ['a.zip', 'a.zip.age', 'package.json'],
    /--public-key has no effect.*\n.*Verify the run/,
  ],
  [{ 'public-key': ['key.pem'] }, ['a.zip'], /--public-key has no effect on a bundle/],
  [{ identity: ['key.txt'] }, ['a.zip', 'package.json'], /--identity has no effect/],
  [{ run: 'x' }, ['a.zip', 'a.zip.age', 'package.json'], /--run has no effect/],
  [{ from: 'x' }, ['a.zip', 'a.zip.age', 'package.json'], /--from has no effect/],
  [{ fast: true }, ['a.zip', 'a.zip.age', 'package.json'], /--fast has no effect/],
  [{ 'locked-for': '9d' }, ['a.zip', 'a.zip.age', 'package.json'], /--locked-for has no effect/],
  [{ threads: 2 }, ['archive', 'a.zip', 'a.zip.age'], /--threads has no effect/],
  [{ endpoint: 'http://x' }, ['archive', 'a.zip', 'package.json'], /--endpoint has no effect on local files/],
  [{ threads: 2, reference: true }, ['package.json'], /--reference uses one thread/],
  [{ run: 'x', from: 'y' }, ['archive'], /--run and --from cannot be combined/],
  [{ run: RUN }, [`archive/runs/${RUN}`], /is one run, so --run and --from have no effect/],
  [{ from: RUN }, [`archive/runs/${RUN}`], /is one run, so --run and --from have no effect/],
];

test.each(UNUSED)('%j', async (flags, targets, says) => {
  for (const target of targets) {
    const { code, stderr } = await verify(target, flags);
    expect([target, code]).toEqual([target, 2]);
    expect(stderr).toMatch(says);
  }
});

test.each(['archive', 'package.json'])('--reference reads %s without the fast decoder, and says so', async (target) => {
  const opened = vi.spyOn(WasmDecoder, 'open');
  const usual = await verify(target);
  expect(opened).toHaveBeenCalled();
  opened.mockClear();
  const plain = await verify(target, { reference: true });
  expect(opened).not.toHaveBeenCalled();
  opened.mockRestore();
  const document = JSON.parse(usual.stdout);
  expect(JSON.parse(plain.stdout)).toEqual({ ...document, trust: { ...document.trust, decoders: 'reference alone' } });
  expect([plain.code, document.trust.decoders]).toEqual([usual.code, 'fast and reference']);
  const words = ['verify', target, '--reference'];
  expect((await evidence(words, { cwd: folder })).stdout).toContain(
    'Decoder       the reference decoder alone (--reference)',
  );
});

describe('what is not there is named, and nothing is verified', () => {
  const ABSENT: [string, string, object, RegExp][] = [
    ['a run', 'archive', { run: 'nope' }, /has no run nope; nothing was verified/],
    ['a run to begin with', 'archive', { from: 'nope' }, /has no run nope; nothing was verified/],
    [
      'a key that an archive is signed with',
      'archive',
      { 'public-key': ['nope.pem'] },
      /the public key, .*nope\.pem, does not exist/,
    ],
    ['an identity', 'archive', { identity: ['nope.txt'] }, /the identity, .*nope\.txt, does not exist/],
    ['roots', 'package.json', { 'timestamp-roots': 'nope.pem' }, /roots, .*nope\.pem, does not exist/],
    ['a seal key', 'package.json', { 'seal-key': ['k1=nope.key'] }, /seal key "k1", .*nope\.key, does not exist/],
    ['the target', 'nope.zip', {}, /there is nothing to verify at nope\.zip/],
    ['a run by its address', 'archive/runs/nope', {}, /has no run nope; .*\n.*evidence runs --archive/],
    ['a run of what is no archive', 'empty/runs/nope', {}, /is not an archive/],
    ['an archive', 'empty', {}, /is not an archive: .*\nName an archive, .*: evidence verify evidence-archive\./],
    ['the work directory', 'archive', { 'work-directory': 'nope' }, /work directory .*nope cannot be used/],
  ];

  test.each(ABSENT)('%s', async (_words, target, flags, says) => {
    const { code, stderr } = await verify(target, flags);
    expect([code, stderr]).toEqual([2, expect.stringMatching(says)]);
  });
});

describe('without a target, what to name follows from what was named', () => {
  const UNNAMED: [words: string, flags: object, code: number, says: RegExp][] = [
    [
      'no configuration',
      {},
      2,
      /no target is given\nName an archive.* with archive\.url: .*--config evidence\.yaml\.$/s,
    ],
    [
      'a configuration without an archive',
      { config: 'evidence.yaml' },
      2,
      /evidence\.yaml names no archive .*\nName it too: evidence verify \.\/evidence-archive --config evidence\.yaml\./,
    ],
    ['a configuration with an archive', { config: 'named.yaml' }, 0, /^$/],
  ];

  test.each(UNNAMED)('%s', async (_words, flags, code, says) => {
    writeFileSync(join(folder, 'evidence.yaml'), 'verify: { require: [order] }');
    writeFileSync(join(folder, 'named.yaml'), 'archive: { url: archive }');
    const ended = await carryOut(runVerify, flags, folder);
    expect([ended.code, ended.stderr.trim()]).toEqual([code, expect.stringMatching(says)]);
  });
});

test('a run that is there is where a verification goes on', async () => {
  const { stdout } = await verify('archive', { from: RUN });
  expect(JSON.parse(stdout).runs.map(({ run_id }: { run_id: string }) => run_id)).toEqual([RUN]);
});

test('a folder that an archive lies in is no archive, and the one in it is named', async () => {
  const place = mkdtempSync(join(folder, 'place-'));
  cpSync(join(folder, 'archive'), join(place, 'evidence-archive'), { recursive: true });
  writeFileSync(join(place, 'evidence-archive/archive.json'), '{}');
  const { code, said } = await verify(place);
  expect([code, said]).toEqual([2, expect.stringContaining('is not an archive, but contains one')]);
});
