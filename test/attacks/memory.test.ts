import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type FaultServer, json, type ReceivedRequest, startFaultServer } from '../support/fault-server.ts';
import { evidenceProcess } from '../support/process.ts';

/** Services whose answers need more memory than the process may use; V8 would exit with 134 and a native stack. */

let folder: string;
let service: FaultServer;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'memory-'));
});
afterEach(async () => {
  await service.close();
  rmSync(folder, { recursive: true, force: true });
});

const UNCHECKED = {
  entry_count: 1,
  head_sequence: 1,
  head_hash: 'a'.repeat(64),
  verified: null,
  last_checked_at: null,
};

/** Returns endless pages of streams with long ids. */
function streams({ path }: ReceivedRequest) {
  const from = Number(new URLSearchParams(path.split('?')[1]).get('cursor') ?? 0);
  const data = Array.from({ length: 2000 }, (_, index) => ({
    stream_id: `${from + index}-${'x'.repeat(500)}`,
    ...UNCHECKED,
  }));
  return json({ data, next_cursor: String(from + data.length) });
}

const page = (count: number) => `[${'{},'.repeat(count)}{}]`;
const NODE_FLAGS = ['--max-old-space-size=64'];

test.each<[what: string, answer: Parameters<typeof startFaultServer>[0], said: RegExp]>([
  ['a list of streams', streams, /Node\.js reached its memory limit of 64 MiB; archived bundles are kept\nRun .*=128/],
  ['one page of many values', { body: page(450_000) }, /takes more memory than Node.js may use/],
  ['one page of too many values', { body: page(1_000_000) }, /more than 1000000 values/],
])('%s ends an export with 3', async (_what, answer, said) => {
  service = await startFaultServer(answer);
  const words = ['export', '--audit-url', service.url, '--archive', folder, '--all-time', '--request', 'R'];
  const env = { EVIDENCE_API_KEY: 'sk_key' };
  const { code, stderr } = await evidenceProcess(words, { cwd: folder, env, nodeFlags: NODE_FLAGS });
  expect([code, stderr]).toEqual([3, expect.stringMatching(said)]);
});
