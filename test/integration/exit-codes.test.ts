import { chmodSync, cpSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EXIT_CODES } from '../../src/core/terminal/exit.ts';
import { evidence } from '../support/evidence.ts';
import { builtFolder, EVIDENCE, runToEnd } from '../support/process.ts';
import { type FaultyService, startFaultyService } from '../support/services/faulty.ts';
import { someRows } from '../support/some-rows.ts';

const KILLED_AFTER = join(import.meta.dirname, '../support/killed-after.ts');

const KEY = 'sk_exit_0123456789';
const folder = mkdtempSync(join(tmpdir(), 'exit-codes-'));
const filled = join(folder, 'filled');
let service: FaultyService;
let env: Record<string, string>;

beforeAll(async () => {
  service = await startFaultyService({ apiKey: KEY, streams: new Map([['payments', 3]]), fault: () => undefined });
  env = { EVIDENCE_AUDIT_URL: service.auditUrl, EVIDENCE_API_KEY: KEY };
  const made = await evidence(['export', '--all-time', '--request', 'demo'], { cwd: folder, env });
  expect(made.code, made.stderr).toBe(0);
  cpSync(join(folder, 'evidence-archive'), join(filled, 'evidence-archive'), { recursive: true });
});
afterAll(() => service.close());

interface Row {
  words: string;
  /** Exit code without a fault, and with stdout closed early. */
  usual: number;
  /** Exit code if every write to a file fails. */
  noFile: number;
  /** Exit code of a user who can neither read the archive nor write beside it. */
  nobody: number;
}

/** Every command, with its exit codes under faults of the machine. */
const COMMANDS: Record<string, Row> = {
  export: { words: 'export --all-time --archive new', usual: 0, noFile: 3, nobody: 3 },
  // No queue is configured.
  worker: { words: 'worker', usual: 2, noFile: 2, nobody: 2 },
  status: { words: 'status', usual: 2, noFile: 2, nobody: 2 },
  verify: { words: 'verify evidence-archive', usual: 0, noFile: 0, nobody: 3 },
  streams: { words: 'streams', usual: 0, noFile: 0, nobody: 3 },
  probe: { words: 'probe --out found.yaml', usual: 0, noFile: 2, nobody: 2 },
  demo: { words: 'demo', usual: 0, noFile: 0, nobody: 3 },
  ledger: { words: "ledger accept payments --reason 'moved'", usual: 2, noFile: 2, nobody: 3 },
  keygen: { words: 'keygen --out key.pem', usual: 0, noFile: 2, nobody: 2 },
  restamp: { words: 'restamp --all', usual: 2, noFile: 2, nobody: 2 },
  init: { words: 'init', usual: 0, noFile: 2, nobody: 2 },
  runs: { words: 'runs', usual: 0, noFile: 0, nobody: 3 },
  share: { words: 'share demo --out shared', usual: 0, noFile: 3, nobody: 3 },
  doctor: { words: 'doctor', usual: 0, noFile: 3, nobody: 3 },
  hold: { words: "hold demo --reason 'case'", usual: 2, noFile: 2, nobody: 3 },
  release: { words: "release demo --reason 'case'", usual: 2, noFile: 2, nobody: 3 },
  extend: { words: "extend demo --years 9 --reason 'case'", usual: 2, noFile: 2, nobody: 3 },
  completion: { words: 'completion bash', usual: 0, noFile: 0, nobody: 0 },
  version: { words: 'version', usual: 0, noFile: 0, nobody: 0 },
  help: { words: 'help exit-codes', usual: 0, noFile: 0, nobody: 0 },
};

/** Runs a shell line in a folder with an archive; `evidence` in it is the program. */
async function shell(line: string, { closed = false } = {}) {
  const cwd = mkdtempSync(join(folder, 'case-'));
  cpSync(filled, cwd, { recursive: true });
  const archive = join(cwd, 'evidence-archive');
  if (closed) for (const [path, mode] of [[archive, 0] as const, [cwd, 0o555] as const]) chmodSync(path, mode);
  const program = `${process.execPath} ${join(builtFolder(), 'dist', EVIDENCE)}`;
  const ended = await runToEnd('bash', ['-c', `set -o pipefail; ${line.replaceAll('evidence ', `${program} `)}`], {
    cwd,
    env,
  });
  for (const path of [cwd, archive]) chmodSync(path, 0o755);
  expect(ended.stderr, line).not.toMatch(/\n {4}at |a defect in this program/);
  expect(
    EXIT_CODES.map(([code]) => code),
    line,
  ).toContain(ended.code);
  return ended;
}

test('every command is in this table', async () => {
  const { stdout } = await evidence(['--help'], { cwd: folder });
  const named = [...stdout.matchAll(/^ {2}evidence (\w+)/gm)].map(([, name]) => name);
  expect(named.toSorted()).toEqual(Object.keys(COMMANDS).toSorted());
});

test('a work directory that takes no more ends an export, and the same command goes on', async () => {
  const begin = `NODE_OPTIONS='--import ${KILLED_AFTER}' KILLED_AFTER=asked.json evidence export --all-time --archive new`;
  const full = await shell(
    `${begin}; (ulimit -f 0; exec evidence export --all-time --archive new); code=$?; evidence export --all-time --archive new --json; echo $code`,
  );
  expect(full.stdout).toMatch(/"outcome": "verified".*\n3\n$/s);
  const [said = '', next = ''] = full.stderr.split('\n').filter((line) => /^evidence:|^Archived bundles/.test(line));
  expect(said).toMatch(/^evidence: the work directory \S+ does not accept a larger file \(EFBIG\)$/);
  expect(next).toMatch(/^Archived bundles are kept\..*--work-directory.*then run the same command again\.$/);
});

const ALL = Object.entries(COMMANDS).map(([name, row]) => ({ name, ...row }));

describe('a command', () => {
  test.concurrent.each(someRows(ALL, ({ usual }) => usual))(
    '$name, whose output nobody reads to its end',
    async ({ words, usual }) => {
      expect((await shell(`evidence ${words} | head -1`)).code).toBe(usual);
    },
  );

  test.concurrent.each(someRows(ALL, ({ usual }) => usual))(
    '$name, whose output cannot be written',
    async ({ words, usual }) => {
      const { code, stderr } = await shell(`evidence ${words} > /dev/full`);
      expect(code, stderr).toBe(usual === 0 ? 3 : usual);
      if (usual === 0) expect(stderr).toMatch(/the result cannot be written to stdout: .*ENOSPC/);
    },
  );

  // Each command that writes files has a row of its own.
  test.concurrent.each(someRows(ALL, ({ name, noFile }) => noFile === 0 || name))(
    '$name, that can write no file',
    async ({ words, noFile }) => {
      const { code, stderr } = await shell(`ulimit -f 0; exec evidence ${words}`);
      expect(code, stderr).toBe(noFile);
      if (noFile !== 0) expect(stderr.trim().split('\n').length, stderr).toBeLessThanOrEqual(4);
    },
  );

  test.concurrent.each(someRows(ALL, ({ nobody }) => nobody))(
    '$name, of a user without rights',
    async ({ words, nobody }) => {
      // Root can do everything, so the test drops root's capabilities.
      const asOthers = process.getuid?.() === 0 ? 'setpriv --bounding-set=-all ' : '';
      const { code, stderr } = await shell(`exec ${asOthers}evidence ${words}`, { closed: true });
      expect(code, stderr).toBe(nobody);
    },
  );
});
