import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runLedger } from '../../src/exporter/cli/commands/ledger.ts';
import { runShare } from '../../src/exporter/cli/commands/share.ts';
import { readLetterTexts, readTexts } from '../../src/exporter/report/texts.ts';
import { makeCalledEvidence } from '../support/called-evidence.ts';
import { SEAL_KEY } from '../support/chain.ts';
import { carryOut } from '../support/command.ts';
import { type FalseService, startFalseService } from '../support/false-service.ts';
import { type KeyFiles, makeKey } from '../support/openssl-keys.ts';
import { type Finished, runToEnd } from '../support/process.ts';
import { type OpensslAuthority, startOpensslAuthority } from '../support/tsa.ts';
import { offerEvidence } from '../support/whole-archive.ts';

/**
 * An external auditor with a shared folder, the public key and the roots of two authorities, each from its owner, and
 * no secrets. Seals are required. The tests run every command of the letter unchanged.
 */
const RUN = '2024-10';
const PYTHON_VERIFIER = resolve(import.meta.dirname, '../conformance/archive-format/verify.py');
const REFUTED = /^Outcome +refuted|^Refuted|refuted:/m;
let service: FalseService;
/** Authority of the service's checkpoints; the other one stamps runs. */
let ofCheckpoints: OpensslAuthority;
let ofRuns: OpensslAuthority;
let key: KeyFiles;
let successor: KeyFiles;
let called: { close(): void };
const home = mkdtempSync(join(tmpdir(), 'auditor-'));
const at = (name: string) => join(service.directory, name);

beforeAll(async () => {
  service = await startFalseService();
  [ofCheckpoints, ofRuns] = await Promise.all([
    startOpensslAuthority(at('tsa-of-checkpoints')),
    startOpensslAuthority(at('tsa-of-runs')),
  ]);
  key = await makeKey(service.directory, 'signing.pem', 'ed25519');
  successor = await makeKey(service.directory, 'signing-2.pem', 'ed25519');
  writeFileSync(at('k1'), SEAL_KEY);
  await offerEvidence(service, ofCheckpoints.url);
  const sign = { key_file: 'signing.pem', tsa_url: ofRuns.url, tsa_roots: ofRuns.rootFile };
  const verify = {
    require: ['order', 'content', 'seal'],
    seal_keys: { k1: 'k1' },
    timestamp_roots: ofCheckpoints.rootFile,
  };
  writeFileSync(at('evidence.yaml'), JSON.stringify({ sign, verify }));
  const exported = await service.export({ request: RUN, period: RUN });
  expect(exported.code, JSON.stringify(exported.document)).toBe(0);
  const bin = join(home, 'bin');
  mkdirSync(bin);
  called = await makeCalledEvidence(join(bin, 'evidence'));
});
afterAll(async () => {
  called.close();
  await Promise.all([service.close(), ofCheckpoints.close(), ofRuns.close()]);
  rmSync(home, { recursive: true, force: true });
});

async function shared(name: string): Promise<string> {
  const folder = join(home, name);
  const { code, said } = await carryOut(runShare, { run: RUN, for: 'J. Smith', out: folder }, service.directory);
  expect(code, said).toBe(0);
  copyFileSync(ofRuns.rootFile, join(folder, 'STAMP_ROOTS'));
  copyFileSync(ofCheckpoints.rootFile, join(folder, 'CHECKPOINT_ROOTS'));
  copyFileSync(key.publicFile, join(folder, 'PUBLIC_KEY'));
  return folder;
}

/** Returns the commands of a letter by step. */
function stepsOf(folder: string): string[] {
  const steps = readFileSync(join(folder, 'letter.txt'), 'utf8')
    .split(/^\d+\. /m)
    .slice(1);
  return steps.map((step) =>
    step
      .split('\n')
      .filter((line) => /^ {4}(grep|jq|for|\{|openssl|evidence verify) /.test(line))
      .map((line) => line.slice(4))
      .join('\n'),
  );
}

function type(command: string, folder: string): Promise<Finished> {
  const env = { HOME: join(home, 'nobody'), PATH: `${join(home, 'bin')}:/usr/bin:/bin` };
  return runToEnd('bash', ['-eo', 'pipefail', '-c', command], { cwd: folder, env });
}

describe('an auditor outside who types the letter', () => {
  test('gets the verdict of the operator, and is told the one exception first', async () => {
    const folder = await shared('handed-out');
    const steps = stepsOf(folder);
    expect(steps.at(-1)).toContain(
      `evidence verify . --run ${RUN} --public-key PUBLIC_KEY --stamp-roots STAMP_ROOTS --timestamp-roots CHECKPOINT_ROOTS`,
    );
    let last = '';
    for (const step of steps) {
      const { code, stdout, stderr } = await type(step, folder);
      expect(code, `${step}\n${stdout}${stderr}`).toBe(0);
      last = stdout;
    }
    const [first = ''] = last.split('\n');
    expect(first).toMatch(
      /^Except seal \(2 streams\): not proved here because this needs a secret key; the signature vouches/,
    );
    expect(last).toMatch(/^Outcome\s+verified \(exit code 0\)/m);
    expect(last).not.toMatch(REFUTED);
  });

  test('copies the commands out of a PDF, which has no two blanks in a row', () => {
    const { steps } = readTexts().verify;
    for (const { command } of [...steps, ...readLetterTexts().verify.steps]) expect(command).not.toMatch(/\S {2,}/);
  });

  test('unzips a bundle as the report says, and the archive is as it was', async () => {
    const folder = await shared('unzipped');
    const { command = '' } = readTexts().verify.steps.find((step) => step.command.includes('BUNDLE')) ?? {};
    const inRun = join(folder, 'runs', RUN);
    for (const name of readdirSync(join(inRun, 'streams')).filter((one) => one.endsWith('.zip'))) {
      const { code, stdout, stderr } = await type(command.replaceAll('BUNDLE.zip', name), inRun);
      expect([code, stderr], stdout).toEqual([0, '']);
    }
    expect((await type(stepsOf(folder).at(-1) ?? '', folder)).code).toBe(0);
  });

  test('knows from the letter which root certificates to get, and from whom', async () => {
    const letter = readFileSync(join(await shared('named'), 'letter.txt'), 'utf8').replace(/\s+/g, ' ');
    for (const words of [ofRuns.url, 'STAMP_ROOTS', 'CHECKPOINT_ROOTS', 'SHA-256']) expect(letter).toContain(words);
    for (const authority of [ofRuns, ofCheckpoints]) {
      const { stdout } = await type(`openssl x509 -in ${authority.rootFile} -noout -fingerprint -sha256`, home);
      expect(letter.toLowerCase()).toContain(stdout.trim().split('=')[1]?.replaceAll(':', '').toLowerCase());
    }
  });

  test.each([
    [
      'each root in the place of the other',
      '--public-key PUBLIC_KEY --stamp-roots CHECKPOINT_ROOTS --timestamp-roots STAMP_ROOTS',
      3,
    ],
    ['the key alone', '--public-key PUBLIC_KEY', 0],
    ['no key', '--stamp-roots STAMP_ROOTS --timestamp-roots CHECKPOINT_ROOTS', 3],
    ['no key, and seals left out', '--without seal', 0],
    ['seals that the auditor requires', '--public-key PUBLIC_KEY --require order,content,seal', 3],
  ])('is never told that genuine evidence is refuted: %s', async (words, flags, code) => {
    const folder = await shared(words.replaceAll(/\W/g, '-'));
    const ended = await type(`evidence verify . --run ${RUN} ${flags}`, folder);
    expect([ended.code, ended.stdout]).toEqual([code, expect.not.stringMatching(REFUTED)]);
  });

  test.each([
    ['no seal key', [], 0],
    ['a seal key as hex', ['--seal-key', 'k1=SEAL_HEX'], 0],
    ['a seal key as base64', ['--seal-key', 'k1=SEAL_BASE64'], 0],
    ['another seal key', ['--seal-key', 'k1=OTHER'], 1],
  ])('comes to the same with the verifier in Python: %s', async (_words, flags, code) => {
    const seal = Buffer.from(SEAL_KEY);
    writeFileSync(join(home, 'SEAL_HEX'), `hex:${seal.toString('hex')}\n`);
    writeFileSync(join(home, 'SEAL_BASE64'), `base64:${seal.toString('base64')}\n`);
    writeFileSync(join(home, 'OTHER'), 'another\n');
    copyFileSync(key.publicFile, join(home, 'PUBLIC_KEY'));
    const trust = ['--public-key', 'PUBLIC_KEY', '--root', ofRuns.rootFile, '--service-root', ofCheckpoints.rootFile];
    const words = ['-B', PYTHON_VERIFIER, at('evidence-archive'), ...trust, ...flags];
    const ended = await runToEnd('python3', words, { cwd: home });
    expect(ended.code, ended.stdout + ended.stderr).toBe(code);
  });

  test('comes to the same with the key that the signing key handed over to', async () => {
    const flags = { action: 'hand-over', to: successor.file };
    const environment = { EVIDENCE_AUDIT_URL: service.url, EVIDENCE_API_KEY: 'sk_of_a_false_service' };
    const handedOver = await carryOut(runLedger, flags as never, service.directory, { environment });
    expect(handedOver.code, handedOver.said).toBe(0);
    const folder = await shared('handed-over');
    for (const file of [key.publicFile, successor.publicFile]) {
      copyFileSync(file, join(folder, 'PUBLIC_KEY'));
      const { code, stdout } = await type(stepsOf(folder).at(-1) ?? '', folder);
      expect(code, stdout).toBe(0);
      expect(stdout).toMatch(/^Except seal/);
    }
  });
});
