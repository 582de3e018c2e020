import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDirectoryArchive } from '../../src/exporter/archive/directory/archive.ts';
import { type PublicKey, readPublicKey } from '../../src/verifier/signature/key.ts';
import { verifyArchive } from '../../src/verifier/verify/archive.ts';
import { verifyBundle } from '../../src/verifier/verify/bundle.ts';
import { Altered, inFile, type Json } from '../support/altered-archive.ts';
import { rebag } from '../support/rebag.ts';
import { makeWholeArchive, type WholeArchive } from '../support/whole-archive.ts';

/** Arbitrary values in documents: a verification always ends with a report, never with a defect. */

const TEXTS = [
  ...['', '../x', '/etc/passwd', 'a\\b', 'a\u0001b', 'runs/\u0000', '\ud800', '__proto__', 'x'.repeat(1500)],
  ...['2026-02-30T00:00:00.000Z', '+275760-09-13T00:00:00.001Z', '2026-01-01T00:00:00.000+99:99'],
  ...[null, 7, [], {}],
];
/** `npm run test:soak` tries every value in every place; `npm test` tries one value in every tenth place. */
const [TRIED, STEP] = process.env['EVERY_ROW'] === undefined ? [1, 10] : [TEXTS.length, 1];
const NUMBERS = [-1, 1.5, Number.MAX_SAFE_INTEGER, 1e300, '7', null, [], true];

interface Leaf {
  path: (string | number)[];
  value: unknown;
}

/** Returns each place in a document without places below it; only the first item of a list. */
function leavesIn(value: unknown, path: Leaf['path'] = []): Leaf[] {
  if (typeof value !== 'object' || value === null) return [{ path, value }];
  const inner: [string | number, unknown][] = Array.isArray(value)
    ? [...value.slice(0, 1).entries()]
    : Object.entries(value);
  return inner.length === 0 ? [{ path, value }] : inner.flatMap(([name, one]) => leavesIn(one, [...path, name]));
}

/** Returns the places to test, numbered. */
function placesIn(document: Json): [number, Leaf][] {
  return [...leavesIn(document).entries()].filter(([place]) => place % STEP === 0);
}

/** Returns values for a place, which alternate between places. */
function valuesFor({ value }: Leaf, place: number): unknown[] {
  const values = typeof value === 'number' || typeof value === 'boolean' ? NUMBERS : TEXTS;
  return values.map((_, turn) => values[(place / STEP + turn) % values.length]).slice(0, TRIED);
}

function put(document: Json, path: Leaf['path'], value: unknown): void {
  const last = path.at(-1) ?? '';
  const holder = path.slice(0, -1).reduce((one, name) => one[name], document);
  holder[last] = value;
}

let whole: WholeArchive;
let own: PublicKey;
const folder = mkdtempSync(join(tmpdir(), 'every-leaf-'));
beforeAll(async () => {
  whole = await makeWholeArchive();
  own = readPublicKey(readFileSync(whole.key.publicFile, 'utf8'), 'own');
  cpSync(whole.folder, join(folder, 'signed'), { recursive: true });
  cpSync(whole.folder, join(folder, 'unsigned'), { recursive: true });
  strip(new Altered(join(folder, 'unsigned')));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Changes the archive into one that was exported without a key and without an authority. */
function strip(archive: Altered): void {
  archive.remove('keys');
  for (const key of archive.ledger) archive.edit(key, (entry) => delete entry.signature);
  for (const month of readdirSync(archive.path('runs'))) {
    for (const name of readdirSync(archive.path(`runs/${month}`), { recursive: true, encoding: 'utf8' }))
      if (/\.tsr$|restamp\.json$|run\.dsse\.json$/.test(name)) archive.remove(`runs/${month}/${name}`);
    archive.edit(`runs/${month}/run.json`, (record) =>
      Object.assign(record, { signed: false, timestamp_authority: null }),
    );
  }
  archive.recompute();
}

async function verify(root: string) {
  const archive = await openDirectoryArchive(root, { create: false });
  const trust = {
    sealKeys: new Map(),
    roots: null,
    stampRoots: null,
    publicKeys: root.endsWith('unsigned') ? [] : [own],
  };
  return verifyArchive({ archive, contract: null, ...trust, now: new Date(), workDirectory: folder, fast: true });
}

test.each(['signed', 'unsigned'])('every document of an archive that is %s', async (name) => {
  const archive = new Altered(join(folder, name));
  expect((await verify(archive.root)).exit_code).toBe(0);
  const keys = readdirSync(archive.root, { recursive: true, encoding: 'utf8' })
    .filter((key) => key.endsWith('.json') && statSync(archive.path(key)).isFile())
    // Verification does not read the draft of a finalized run.
    .filter((key) => !key.endsWith('run-draft.json'))
    .sort();
  const kinds = [...new Map(keys.map((key) => [kindOf(archive, key), key])).values()];
  const before = new Map(keys.map((key) => [key, archive.bytes(key)]));
  const failed: string[] = [];
  for (const key of kinds) {
    for (const [place, leaf] of placesIn(archive.read(key))) {
      for (const value of valuesFor(leaf, place)) {
        archive.edit(key, (document) => put(document, leaf.path, value));
        settle(archive, key);
        await verify(archive.root).catch((error: Error) =>
          failed.push(`${key} ${leaf.path.join('.')} = ${JSON.stringify(value)}: ${error.stack}`),
        );
        for (const [one, bytes] of before)
          if (!existsSync(archive.path(one)) || !archive.bytes(one).equals(bytes))
            writeFileSync(archive.path(one), bytes);
      }
    }
  }
  expect(failed).toEqual([]);
});

/** Groups objects with the same members. */
function kindOf(archive: Altered, key: string): string {
  return Object.keys(archive.read(key)).sort().join();
}

/** Corrects references to the document, as far as it can still be read. */
function settle(archive: Altered, key: string): void {
  const [, run] = /^runs\/([^/]+)\//.exec(key) ?? [];
  try {
    if (run !== undefined && !key.endsWith('/run.json')) archive.restore(run);
    else archive.recompute();
  } catch {
    // The rest stays unchanged.
  }
}

test('every document of a bundle', async () => {
  const source = new Altered(whole.folder);
  const bundle = source.path(source.find('runs/2024-10/streams', '.zip'));
  const target = join(folder, 'target.zip');
  const options = { contract: null, sealKeys: new Map(), roots: null, now: new Date() };
  const failed: string[] = [];
  for (const path of ['data/verification.json', 'data/service.json', 'data/transfer-log.json']) {
    let document: Json;
    await rebag(bundle, target, (files) => {
      document = JSON.parse(files.get(path)?.toString() ?? '');
    });
    for (const [place, leaf] of placesIn(document))
      for (const value of valuesFor(leaf, place)) {
        await rebag(
          bundle,
          target,
          inFile(path, (changed) => put(changed, leaf.path, value)),
        );
        await verifyBundle(target, 'b.zip', options).catch((error: Error) =>
          failed.push(`${path} ${leaf.path.join('.')} = ${JSON.stringify(value)}: ${error.stack}`),
        );
      }
  }
  expect(failed).toEqual([]);
});
