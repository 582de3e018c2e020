import { describe, expect, test } from 'vitest';
import { sha256 } from '../../src/core/digest.ts';
import { RowMap } from '../../src/core/rows/map.ts';
import { shellWord } from '../../src/core/shell.ts';
import type { Archive } from '../../src/exporter/archive/archive.ts';
import { appendEntry, catchUp } from '../../src/exporter/ledger/append.ts';
import { readKnownLedger } from '../../src/exporter/ledger/continuation.ts';
import type { LedgerTrust } from '../../src/exporter/ledger/trust.ts';
import { deriveEntry } from '../../src/verifier/ledger/derive.ts';
import {
  type LedgerEntry,
  readEntry,
  readNewestEntry,
  type Subject,
  signedPart,
} from '../../src/verifier/ledger/ledger.ts';
import { toRecordBytes } from '../../src/verifier/records/record-bytes.ts';
import { sign } from '../../src/verifier/signature/envelope.ts';
import type { SigningKey } from '../../src/verifier/signature/key.ts';
import { runRecord, runStream } from '../support/records.ts';
import { archiveOf, finalizeRun, newKey } from '../support/signed-archive.ts';

const [OURS, BEFORE, STRANGER] = [newKey(), newKey(), newKey()] as const;
const SIGNED: LedgerTrust = { signingKey: OURS, publicKeys: [BEFORE] };
const UNSIGNED: LedgerTrust = { signingKey: null, publicKeys: [] };
const BEGINNING: LedgerTrust = { ...SIGNED, beginSigning: true };
const STREAMS = { streams: [runStream('s')] };

function subject(runId: string): Subject {
  const record = runRecord(runId, []);
  return { kind: 'run', record, sha256: sha256(toRecordBytes(record)) };
}

async function put(archive: Archive, key: string, content: object | string): Promise<void> {
  const bytes = typeof content === 'string' ? Buffer.from(content) : toRecordBytes(content);
  await archive.put(key, { bytes }, { sha256: sha256(bytes), bytes: bytes.length });
}

/** Changes the entry that an honest export would add, then signs it with this key. */
function adding(change: (entry: LedgerEntry) => object, key: SigningKey | null) {
  return async (archive: Archive): Promise<void> => {
    const newest = await readNewestEntry(archive);
    const entry = change(deriveEntry(subject('added'), newest)) as LedgerEntry;
    const signature = key === null ? {} : { signature: sign(signedPart(entry), key) };
    await put(archive, `ledger/0000000${(newest?.entry.number ?? 0) + 1}.json`, { ...entry, ...signature });
  };
}
const unchanged = (entry: LedgerEntry) => entry;
const sealedBy = (key: SigningKey | null) => (archive: Archive) =>
  finalizeRun(archive, 'added', key, {}, [OURS, BEFORE]);

/** Creates an archive with one run of one stream. */
async function begun(key: SigningKey | null): Promise<Archive> {
  const archive = await archiveOf();
  await finalizeRun(archive, 'first', key, STREAMS);
  return archive;
}

/** Reads the ledger as an export does, lets an attacker add to the ledger, and ends the export. */
async function raced(archive: Archive, trust: LedgerTrust, add: (archive: Archive) => Promise<void>) {
  const known = await readKnownLedger(archive, trust);
  await add(archive);
  const before = await keysOf(archive);
  const ended = catchUp(archive, known, trust).then((end) => appendEntry(archive, subject('ours'), end, trust));
  return { before, ended };
}

async function keysOf(archive: Archive): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of archive.list('')) keys.push(key);
  return keys;
}

describe('added to the ledger while an export ran, and not signed over', () => {
  type Row = [words: string, first: SigningKey | null, LedgerTrust, (archive: Archive) => Promise<void>, RegExp];
  test.each<Row>([
    ['an unsigned entry', OURS, SIGNED, adding(unchanged, null), /is not signed, but the previous entry is/],
    [
      'an unsigned entry of a run that is there',
      OURS,
      SIGNED,
      sealedBy(null),
      /is not signed, but the previous entry is/,
    ],
    ['an entry by a stranger', OURS, SIGNED, sealedBy(STRANGER), /is signed with the unknown key/],
    [
      "another entry's signature",
      OURS,
      SIGNED,
      async (archive) => {
        const { entry } = await readEntry(archive, 'ledger/00000001.json');
        await adding((added) => ({ ...added, signature: entry.signature }), null)(archive);
      },
      /is not the entry that the key .* signed/,
    ],
    [
      'an entry of ours that goes on after another one',
      OURS,
      SIGNED,
      adding((entry) => ({ ...entry, previous_sha256: 'c'.repeat(64) }), OURS),
      /does not name the digest of the previous entry/,
    ],
    [
      'an entry of ours without the heads',
      OURS,
      SIGNED,
      adding((entry) => ({ ...entry, heads: {} }), OURS),
      /does not keep the head of the stream "s"/,
    ],
    [
      'an entry of ours with another number',
      OURS,
      SIGNED,
      adding((entry) => ({ ...entry, number: 3 }), OURS),
      /says that it is entry 3/,
    ],
    ['no entry at all', OURS, SIGNED, (archive) => put(archive, 'ledger/00000002.json', '{'), /is not JSON/],
    [
      'an unsigned entry after an honest one',
      OURS,
      SIGNED,
      async (archive) => {
        await sealedBy(OURS)(archive);
        await adding((entry) => ({ ...entry, run_id: 'added-after' }), null)(archive);
      },
      /00000003.json .* is not signed, but the previous entry is/,
    ],
    [
      'an unsigned entry, where signing begins with this export',
      null,
      BEGINNING,
      sealedBy(null),
      /a signing key is given, but ledger\/00000002.json is not signed/,
    ],
    ['in an unsigned ledger, an entry of a run that is not there', null, UNSIGNED, adding(unchanged, null), /added/],
    [
      'in an unsigned ledger, an entry that states other heads than its run has',
      null,
      UNSIGNED,
      async (archive) => {
        await put(archive, 'runs/added/run.json', runRecord('added', []));
        const head = { sequence: 99, hash: 'c'.repeat(64), run_id: 'added' };
        await adding((entry) => ({ ...entry, heads: RowMap.of([...entry.heads, ['more', head]]) }), null)(archive);
      },
      /is not the entry that follows from its record/,
    ],
    [
      'in an unsigned ledger, a signed entry, which nothing unsigned may follow',
      null,
      UNSIGNED,
      sealedBy(OURS),
      /is signed, but no signing key is given/,
    ],
  ])('%s', async (_words, first, trust, add, said) => {
    const archive = await begun(first);
    const { before, ended } = await raced(archive, trust, add);
    await expect(ended).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(said),
      nextStep: expect.stringContaining(`evidence verify ${shellWord(archive.url)}`),
    });
    expect(await keysOf(archive)).toEqual(before);
  });

  test('the first entry of all, unsigned', async () => {
    const { ended } = await raced(await archiveOf(), SIGNED, sealedBy(null));
    await expect(ended).rejects.toMatchObject({ code: 'conflict', message: expect.stringMatching(/is not signed/) });
  });

  test('another record of the run that the export has exported', async () => {
    const archive = await begun(OURS);
    const { ended } = await raced(archive, SIGNED, () => finalizeRun(archive, 'ours', OURS, STREAMS));
    await expect(ended).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(/is not the one that the ledger names/),
    });
  });
});

describe('honest exports that end while another one runs', () => {
  test.each<[words: string, first: SigningKey | null, LedgerTrust, (archive: Archive) => Promise<void>]>([
    ['under the same key', OURS, SIGNED, sealedBy(OURS)],
    ['under a key that was given', BEFORE, SIGNED, sealedBy(BEFORE)],
    ['where signing has begun with it', null, BEGINNING, sealedBy(OURS)],
    ['unsigned', null, UNSIGNED, sealedBy(null)],
    [
      'twice',
      OURS,
      SIGNED,
      async (archive) => {
        await sealedBy(OURS)(archive);
        await finalizeRun(archive, 'more', OURS);
      },
    ],
  ])('%s', async (_words, first, trust, add) => {
    const archive = await begun(first);
    const { ended } = await raced(archive, trust, add);
    expect(await ended).toBe('created');
    await put(archive, 'runs/ours/run.json', runRecord('ours', []));
    expect((await readKnownLedger(archive, { ...trust, beginSigning: false })).runs.has('ours')).toBe(true);
  });
});

describe('the newest entry of the ledger that an export begins with', () => {
  type Row = [words: string, () => Promise<Archive>, LedgerTrust, code: string | null];
  test.each<Row>([
    ['none', () => archiveOf(), SIGNED, null],
    ['unsigned, and a key', () => begun(null), SIGNED, 'config'],
    ['unsigned, and signing begins', () => begun(null), BEGINNING, null],
    ['unsigned, and no key', () => begun(null), UNSIGNED, null],
    ['unsigned, and signing begins without a key', () => begun(null), { ...UNSIGNED, beginSigning: true }, 'usage'],
    ['signed, and signing is said to begin', () => begun(OURS), BEGINNING, 'usage'],
    ['signed, and no key', () => begun(OURS), UNSIGNED, 'config'],
    ['by a stranger, and signing begins', () => begun(STRANGER), BEGINNING, 'config'],
  ])('%s', async (_words, make, trust, code) => {
    const archive = await make();
    const reading = readKnownLedger(archive, trust);
    if (code === null) expect((await reading).newest).toEqual(await readNewestEntry(archive));
    else await expect(reading).rejects.toMatchObject({ code });
  });
});
