import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { EvidenceError } from '../../../src/core/errors.ts';
import { Packing, packingThreads } from '../../../src/exporter/export/packing.ts';
import { sampleOptions, writeSample } from '../../verifier/bundle/sample.ts';

let folder: string;
const open: Packing[] = [];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'packing-'));
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((packing) => packing[Symbol.asyncDispose]()));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function start(program?: URL): Packing {
  const packing = new Packing(program && packingThreads(program));
  open.push(packing);
  return packing;
}

/** Returns everything about an error that a user could see. */
function describeError(error: Error) {
  const { name, message } = error;
  return error instanceof EvidenceError
    ? { name, message, code: error.code, nextStep: error.nextStep }
    : { name, message };
}

const programOf = (code: string) => new URL(`data:text/javascript,${encodeURIComponent(code)}`);

test('bundles are those that are written here, several at once', async () => {
  const here = await writeSample(join(folder, 'here.zip'));
  const packing = start();
  const names = ['a.zip', 'b.zip', 'c.zip'];
  const there = await Promise.all(names.map((name) => packing.write(sampleOptions(join(folder, name)))));
  expect(there).toEqual([here, here, here]);
  for (const name of names)
    expect(readFileSync(join(folder, name)).equals(readFileSync(join(folder, 'here.zip')))).toBe(true);
});

test('an error says there what it says here, and a defect is one', async () => {
  const missing = { payload: [{ path: 'data/evidence.json', file: join(folder, 'no-such-file') }] };
  const broken = { slug: 'a/b' };
  const packing = start();
  for (const changes of [missing, broken]) {
    const target = join(folder, 'none.zip');
    const [here, there] = await Promise.all([
      writeSample(target, changes).catch(describeError),
      packing.write(sampleOptions(target, changes)).catch(describeError),
    ]);
    expect(there).toEqual(here);
    expect(here).toHaveProperty('message');
    expect(existsSync(target)).toBe(false);
  }
});

test.each([
  ['dies', 'setImmediate(() => { throw new Error("out of order") })', 'out of order'],
  ['ends', 'setImmediate(() => process.exit())', 'it ended'],
])('a thread that %s fails what it was asked, then and later', async (_words, code, reason) => {
  const packing = start(programOf(code));
  const message = `the thread that packs bundles failed: ${reason}`;
  const expected = { code: 'archive', message, nextStep: expect.stringContaining('run the same command again') };
  await expect(packing.write(sampleOptions(join(folder, 'x.zip')))).rejects.toMatchObject(expected);
  await expect(packing.write(sampleOptions(join(folder, 'y.zip')))).rejects.toMatchObject(expected);
});

test('where no thread is to be had, bundles are written all the same', async () => {
  const packing = start(new URL('https://example.com/no-program'));
  const written = await packing.write(sampleOptions(join(folder, 'alone.zip')));
  expect(written).toEqual(await writeSample(join(folder, 'here.zip')));
});

test('a run that is closed while it packs fails what it asked, and leaves the next one a thread that is sound', async () => {
  const closed = start();
  const asked = closed.write(sampleOptions(join(folder, 'cut-off.zip')));
  await Promise.all([expect(asked).rejects.toMatchObject({ code: 'archive' }), closed[Symbol.asyncDispose]()]);
  const written = await start().write(sampleOptions(join(folder, 'next.zip')));
  expect(written).toEqual(await writeSample(join(folder, 'here.zip')));
});

test.each([
  ['little is kept for the next run', 2 ** 20, 1],
  ['much is ended with its run, for the memory that it holds', 2 ** 23, 0],
])('a thread that has packed %s', async (_words, bytes, kept) => {
  const code = `import { parentPort } from 'node:worker_threads';
    parentPort.on('message', ({ port }) => {
      port.postMessage({ value: { bytes: ${bytes} } });
      port.postMessage({ done: true });
    });`;
  await using threads = packingThreads(programOf(code));
  const packing = new Packing(threads);
  await packing.write(sampleOptions(join(folder, 'none.zip')));
  await packing[Symbol.asyncDispose]();
  expect(threads.count).toBe(kept);
});
