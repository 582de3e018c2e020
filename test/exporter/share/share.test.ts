import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { EvidenceError } from '../../../src/core/errors.ts';
import type { Archive, LinkSeries } from '../../../src/exporter/archive/archive.ts';
import { openMemoryArchive } from '../../../src/exporter/archive/memory.ts';
import { appendEntry } from '../../../src/exporter/ledger/append.ts';
import { foreseeShare, shareRun } from '../../../src/exporter/share/share.ts';
import { readShares } from '../../../src/verifier/records/hold-log.ts';
import { toRecordBytes } from '../../../src/verifier/records/record-bytes.ts';
import { readFinalizedRun } from '../../../src/verifier/records/stored-run.ts';
import { verifyHoldLog } from '../../../src/verifier/verify/hold-log.ts';
import { expectedOf, keysOf, putText } from '../../conformance/archive.ts';
import { LockingArchive } from '../../support/memory-locks.ts';
import { DIGEST } from '../../support/records.ts';
import { finalizeRun, ledgerEnd, newKey } from '../../support/signed-archive.ts';

const NOW = new Date('2026-11-21T12:00:00.000Z');
const UNTIL = new Date('2026-11-28T12:00:00.000Z');
const LOCK = { mode: 'compliance', retain_until: '2030-01-01T00:00:00.000Z' } as const;

/** Adds links to an archive, each of which is a secret. */
function withLinks(archive: Archive, credentialsUntil: LinkSeries['credentialsUntil'] = null): Archive {
  const linkTo = async (key: string) => `https://store.example/${key}?signature=secret`;
  const links = { begin: async () => ({ until: UNTIL, credentialsUntil, linkTo }) };
  return new Proxy(archive, {
    get: (target, name) => {
      if (name === 'links') return links;
      const value = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

async function share(archive: Archive, links: boolean, signal = new AbortController().signal) {
  const run = await readFinalizedRun(archive, 'run-1');
  if (run === null) throw new Error('there is no run');
  const folder = join(mkdtempSync(join(tmpdir(), 'share-unit-')), 'new');
  const options = {
    run,
    sharedWith: 'J. Smith',
    sharedBy: { user: 'u', host: 'h' },
    linkSeconds: links ? 60 : null,
    roots: { checkpoints: null, stamps: null },
    folder,
  };
  const context = { archive, now: () => NOW, signal };
  return { folder, shared: shareRun(context, options), foresee: () => foreseeShare(context, options) };
}

async function finalized(archive: Archive = openMemoryArchive()): Promise<Archive> {
  await finalizeRun(archive, 'run-1', newKey());
  return archive;
}

test('the archive gets to know who was handed what, and no link', async () => {
  const archive = withLinks(await finalized());
  const { folder, shared } = await share(archive, true);
  const { record, key, warnings } = await shared;
  expect(warnings).toEqual([]);
  expect(await readShares(archive, 'run-1')).toEqual([{ key, record }]);
  expect(record).toMatchObject({ shared_with: 'J. Smith', form: 'links', expires_at: UNTIL.toISOString() });
  expect(JSON.stringify(record)).not.toContain('https');
  const letter = readFileSync(join(folder, 'letter.txt'), 'utf8');
  const paths = [...letter.matchAll(/^output = "(.*)"$/gm)].map(([, path]) => path);
  expect(paths).toEqual([...record.objects.map((object) => object.key), 'share.json']);
  expect(letter.match(/signature=secret/g)).toHaveLength(paths.length);
});

describe('links end with the credentials that sign them', () => {
  const sooner = new Date('2026-11-22T12:00:00.000Z');
  const later = new Date('2026-12-22T12:00:00.000Z');
  test.each([
    [sooner, sooner, /expire at 2026-11-22T12:00:00.000Z/],
    [later, UNTIL, null],
    [null, UNTIL, null],
    ['unknown' as const, UNTIL, /of unknown lifetime/],
  ])('that end: %s', async (credentialsUntil, end, words) => {
    const { shared } = await share(withLinks(await finalized(), credentialsUntil), true);
    const { record, warnings } = await shared;
    expect(record.expires_at).toBe(end.toISOString());
    expect(warnings).toEqual(words === null ? [] : [expect.stringMatching(words)]);
  });
});

test('links are foreseen without one being made', async () => {
  const archive = withLinks(await finalized(), 'unknown');
  const { shared, foresee, folder } = await share(archive, true);
  const { record, warnings } = await shared;
  rmSync(folder, { recursive: true });
  const before = await keysOf(archive, '');
  expect(await foresee()).toEqual({ record, warnings });
  expect([await keysOf(archive, ''), existsSync(folder)]).toEqual([before, false]);
});

test('what the store does not let be recorded is not handed out', async () => {
  const archive = await finalized();
  const refusing: Archive = new Proxy(archive, {
    get: (target, name) => {
      if (name === 'put') return () => Promise.reject(new EvidenceError('store-refused', '403'));
      const value = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  for (const links of [true, false]) {
    const { folder, shared } = await share(links ? withLinks(refusing) : refusing, links);
    await expect(shared).rejects.toMatchObject({ code: 'store-refused' });
    expect(existsSync(folder)).toBe(false);
  }
});

test('the ledger up to the run goes along, with what it accepted and the keys it is signed with, and no more', async () => {
  const archive = openMemoryArchive();
  const [first, second] = [newKey(), newKey()];
  await finalizeRun(archive, 'run-0', first);
  const head = { sequence: 4, hash: DIGEST, run_id: 'run-0' };
  const acceptance = {
    format: 'evidence-acceptance/7',
    stream_id: 's',
    reason: 'r',
    accepted_by: { user: 'u', host: 'h' },
    accepted_at: '2026-11-01T00:00:00.000Z',
    head,
    contradiction: { run_id: 'run-0', finding: 'continuity/stream-vanished', message: 'm', seen: null },
  } as const;
  const bytes = toRecordBytes(acceptance);
  const key = 'acceptances/s.json';
  await archive.put(key, { bytes }, expectedOf(bytes));
  await appendEntry(
    archive,
    { kind: 'acceptance', record: acceptance, key, sha256: expectedOf(bytes).sha256 },
    await ledgerEnd(archive),
    { signingKey: first, publicKeys: [] },
  );
  await finalizeRun(archive, 'run-1', second, {}, [first]);
  await finalizeRun(archive, 'run-2', newKey(), {}, [second]);
  const { record } = await (await share(archive, false)).shared;
  const keys = record.objects.map((object) => object.key).filter((name) => !name.startsWith('runs/run-1/'));
  const ledger = ['ledger/00000001.json', 'ledger/00000002.json', 'ledger/00000003.json'];
  expect(keys.sort()).toEqual([key, 'archive.json', `keys/${first.id}.pem`, `keys/${second.id}.pem`, ...ledger].sort());
});

test('interrupted, it leaves nothing', async () => {
  const archive = await finalized();
  const { folder, shared } = await share(archive, false, AbortSignal.abort(new Error('stopped')));
  await expect(shared).rejects.toThrow('stopped');
  expect([existsSync(folder), await keysOf(archive, 'runs/run-1/hold-log/')]).toEqual([false, []]);
});

test.each([
  [LOCK, LOCK],
  [{ ...LOCK, retain_until: '2026-11-01T00:00:00.000Z' }, null],
])('the record is locked as the record of the run is: %j', async (lock, expected) => {
  const locking = new LockingArchive(lock);
  await finalized(locking.archive);
  locking.initially = null;
  const { shared } = await share(locking.archive, false);
  expect(locking.table.get((await shared).key)?.lock).toEqual(expected);
});

test.each([
  ['of another run', (text: string) => text.replace('"run-1"', '"run-2"'), 'record/differs'],
  ['of another time', (text: string) => text.replaceAll('2026-11-21', '2026-11-20'), 'record/differs'],
  ['that is none', () => '{}', 'object/unreadable'],
])('a record %s is found', async (_what, change, code) => {
  const archive = await finalized();
  const { key } = await (await share(archive, false)).shared;
  expect((await verifyHoldLog(archive, 'run-1')).findings).toEqual([]);
  const copy = openMemoryArchive();
  await putText(copy, key, change(Buffer.from(await archive.readBytes(key, 1e6)).toString()));
  expect((await verifyHoldLog(copy, 'run-1')).findings).toEqual([expect.objectContaining({ code })]);
});
