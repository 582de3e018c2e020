import { createHash, createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { finished } from 'node:stream/promises';
import canonicalize from 'canonicalize';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { COUNTED, costIn } from '../support/cost.ts';
import { EVIDENCE, nodeToEnd } from '../support/process.ts';

const ENTRIES = 200_000;
const LIMIT_MB = 150;
const KEY = 'memory-test-key';

/** Module that prints the number of bytes that other threads read. */
const THREADS = resolve(import.meta.dirname, '../support/awaited-threads.mjs');

let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'memory-test-'));
  writeFileSync(join(folder, 'key'), KEY);
  await writePackage(join(folder, 'evidence.json'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test(`a package of ${ENTRIES.toLocaleString('en')} entries is verified by all cores in less than ${LIMIT_MB} MB`, async () => {
  const { code, stdout, stderr } = await nodeToEnd(
    EVIDENCE,
    ['verify', 'evidence.json', '--seal-key', 'k1=key', '--json'],
    {
      cwd: folder,
      nodeFlags: [...COUNTED, '--import', THREADS],
    },
  );
  const [stream] = JSON.parse(stdout).streams;
  expect([code, stream.entries, stream.status]).toEqual([0, ENTRIES, 'verified']);
  expect([stream.claims.content.state, stream.claims.seal.state]).toEqual(['proved', 'proved']);
  expect(costIn(stderr).memory).toBeLessThan(LIMIT_MB * 1e6);
  expect(Number(/^segments (\d+)$/m.exec(stderr)?.[1]) > 0).toBe(availableParallelism() > 1);
});

/** Writes a package in the default contract with the reference implementation of RFC 8785. */
async function writePackage(path: string): Promise<void> {
  const file = createWriteStream(path);
  file.write(
    `{"format":"evidence-package/1","package_id":"p","stream":{"stream_id":"s"},"period":null,"generated_at":"2026-11-01T00:00:00.000Z","entry_count":${ENTRIES},"first_sequence":1,"last_sequence":${ENTRIES},"checkpoints":[],"entries":[`,
  );
  let previous = '0'.repeat(64);
  for (let sequence = 1; sequence <= ENTRIES; sequence++) {
    const body = {
      entry_id: `entry-${sequence}`,
      stream_id: 's',
      sequence,
      timestamp: new Date(Date.UTC(2026, 9, 1) + sequence).toISOString(),
      actor: `user-${sequence % 500}@example.com`,
      action: 'document.read',
      resource_type: 'document',
      resource_id: `r-${sequence}`,
      metadata: {
        user_agent: 'agent/1.0 "r7"',
        reason: '},{"entry_id":"',
        ip: '10.0.0.1',
        duration_ms: sequence % 977,
      },
      prev_hash: previous,
      seal_key_id: 'k1',
    };
    const hash = createHash('sha256')
      .update(canonicalize(body) ?? '')
      .digest('hex');
    const seal = createHmac('sha256', KEY).update(hash).digest('hex');
    const more = file.write(`${sequence > 1 ? ',' : ''}${JSON.stringify({ ...body, hash, seal })}`);
    if (!more) await once(file, 'drain');
    previous = hash;
  }
  file.end(`],"head_hash":"${previous}"}\n`);
  await finished(file);
}
