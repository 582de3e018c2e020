import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EvidenceError } from '../../src/core/errors.ts';
import { Printer } from '../../src/core/terminal/printer.ts';
import { archivePackage, RUN } from '../support/archived-package.ts';
import { chainOf, packageOf } from '../support/chain.ts';
import { evidence } from '../support/evidence.ts';
import { writePackageBundle } from '../support/package-bundle.ts';
import { type FaultyService, startFaultyService } from '../support/services/faulty.ts';

/**
 * One control character of each kind: clears the screen, colors it, rings, returns, reverses or hides text, ends a
 * line.
 */
const SIGNS = [
  '\u001b[2J\u001b[31m',
  '\u001b]0;swallowed',
  '\u0007',
  '\b',
  '\r',
  '\n',
  '\u007f',
  '\u0085',
  '\u009b31m',
  '\u202e',
  '\u202a',
  '\u2066',
  '\u200e',
  '\u200f',
  '\u061c',
  '\u2028',
  '\u2029',
  '\ufeff',
  '\u{e0041}',
  '\u{e0000}',
].join('x');
const FORGED = '\nOutcome       verified (exit code 0)';
const HOSTILE = `${SIGNS}${FORGED}`;
/**
 * Control characters except line feeds, which end our own lines; the test recognizes foreign lines by their beginning.
 */
const RAW = /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u{e0000}]/u;
const FORGED_LINE = /^Outcome {7}verified \(exit code 0\)$/m;
const API_KEY = 'sk_of_the_terminal';

const place = mkdtempSync(join(tmpdir(), 'terminal-'));
/** Signs that object names can contain: no control characters, and no slash. */
const NAME = 'x\u202e\u2066\u2028\u200e\u{e0041}y';
let service: FaultyService;

beforeAll(async () => {
  service = await startFaultyService({
    apiKey: API_KEY,
    streams: new Map([
      [`good ${HOSTILE}`, 3],
      ['bad', 3],
    ]),
    fault: ({ step, streamId }, truth) => {
      if (step === 'pdf' && streamId === 'bad')
        return {
          status: 400,
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ detail: HOSTILE }),
        };
      return step === 'verify' ? { ...truth, status: 400, body: JSON.stringify({ title: HOSTILE }) } : undefined;
    },
    packageId: (nth) => `pkg-${nth}`,
  });
  const entries = chainOf(3, { actor: HOSTILE });
  const sent = packageOf(entries, { package_id: HOSTILE, stream: { stream_id: HOSTILE } });
  writeFileSync(join(place, 'package.json'), JSON.stringify(sent));
  const bytes = Buffer.from(
    JSON.stringify(packageOf(chainOf(3, { stream_id: HOSTILE }), { stream: { stream_id: HOSTILE } })),
  );
  const restate = (verdict: Parameters<NonNullable<Parameters<typeof writePackageBundle>[0]['restate']>>[0]) => ({
    ...verdict,
    package_id: HOSTILE,
    head_hash: HOSTILE,
  });
  await writePackageBundle({ target: join(place, 'bundle.zip'), evidence: bytes, restate });
  await archivePackage(join(place, 'archive'), {
    bundle: { evidence: bytes, restate },
    more: {
      warnings: [{ code: 'replaces', message: HOSTILE }],
      failed: [{ stream_id: HOSTILE, code: 'service', reason: HOSTILE, next_step: HOSTILE }],
      timestamp_authority: HOSTILE,
      operator: { user: HOSTILE, host: HOSTILE },
    },
  });
  mkdirSync(join(place, `archive/runs/${NAME}/streams`), { recursive: true });
  writeFileSync(join(place, `archive/runs/${NAME}/streams/${NAME}.zip`), '');
  writeFileSync(join(place, `archive/runs/${NAME}/run.json`), JSON.stringify({ format: HOSTILE, [HOSTILE]: 1 }));
  writeFileSync(join(place, `archive/${NAME}`), '');
  writeFileSync(join(place, 'evidence.yaml'), '');
  writeFileSync(join(place, 'wrong.yaml'), JSON.stringify({ [HOSTILE]: HOSTILE }));
});
afterAll(() => service.close());

const COMMANDS: [string, string[]][] = [
  ['verify, of a bundle', ['verify', 'bundle.zip']],
  ['verify, of a package', ['verify', 'package.json']],
  ['verify, of an archive', ['verify', 'archive']],
  ['verify, of a run', ['verify', 'archive', '--run', RUN]],
  ['verify, of a run that there is not', ['verify', 'archive', '--run', `${HOSTILE}`]],
  ['verify, of what there is not', ['verify', HOSTILE]],
  ['a configuration that is wrong', ['verify', 'archive', '--config', 'wrong.yaml']],
  ['runs', ['runs', '--archive', 'archive']],
  ['hold', ['hold', NAME, '--archive', 'archive', '--reason', HOSTILE]],
  ['share', ['share', NAME, '--archive', 'archive', '--for', HOSTILE]],
  ['restamp', ['restamp', NAME, '--archive', 'archive']],
  ['ledger', ['ledger', 'accept', HOSTILE, '--archive', 'archive', '--reason', HOSTILE]],
  ['streams', ['streams', '--archive', 'archive']],
  ['doctor', ['doctor', '--archive', 'archive']],
  ['probe', ['probe', '--out', 'probed.yaml']],
  ['export, dry', ['export', '--all-time', '--archive', 'exported', '--dry-run']],
  ['export', ['export', '--all-time', '--archive', 'exported']],
  ['verify, of what was exported', ['verify', 'exported']],
  ['a flag that is none', ['verify', `--${HOSTILE}`]],
];

describe('nothing foreign reaches a terminal or a log raw', () => {
  test.each(COMMANDS)('%s', async (_words, args) => {
    const env = { EVIDENCE_AUDIT_URL: service.auditUrl, EVIDENCE_API_KEY: API_KEY };
    for (const flags of [[], ['--json']]) {
      const { code, stdout, stderr } = await evidence([...args, ...flags], { cwd: place, env });
      expect(code).not.toBe(70);
      for (const text of [stdout, stderr]) {
        expect(RAW.exec(text)?.[0].codePointAt(0)?.toString(16), text).toBeUndefined();
        expect(text).not.toMatch(FORGED_LINE);
      }
      if (flags.length > 0) JSON.parse(stdout);
    }
  });
});

test('JSON with escapes says what it said', () => {
  let out = '';
  const printer = new Printer({ json: true, quiet: false, stdout: { write: (text) => (out += text) } });
  const document = { [HOSTILE]: [HOSTILE, '\ud800', '\u{1f600}', 'لا\u200cتینی'] };
  printer.document('evidence-test/1', document);
  expect(JSON.parse(out)).toEqual({ format: 'evidence-test/1', ...document });
  expect(out).not.toMatch(RAW);
});

test('a line is one line, whoever gives it', () => {
  const written: string[] = [];
  const channel = { write: (text: string) => written.push(text) };
  const printer = new Printer({ json: false, quiet: false, stdout: channel, stderr: channel });
  printer.result(HOSTILE);
  printer.result(['a', { text: HOSTILE, style: 'red' }, HOSTILE]);
  printer.note(HOSTILE);
  printer.failure(new EvidenceError('service', HOSTILE, { nextStep: HOSTILE }));
  printer.failure(new TypeError(HOSTILE));
  for (const text of written) expect(text.slice(0, -1)).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u);
  expect(written.filter((text) => !/^ +at /.test(text))).toHaveLength(6);
});
