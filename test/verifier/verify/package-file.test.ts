import { appendFileSync, existsSync, mkdtempSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { PackageReader, type PackageReading } from '../../../src/verifier/chain/package.ts';
import type { SealKeys } from '../../../src/verifier/model/entry.ts';
import { defaultContract } from '../../../src/verifier/reading/default-contract.ts';
import { type FileReadingOptions, readPackageFile } from '../../../src/verifier/verify/package-file.ts';
import { rangeThreadsFor, startRangeThreads } from '../../../src/verifier/verify/range-threads.ts';
import { chainOf, KEYS, packageOf, type SentEntry } from '../../support/chain.ts';

const folder = mkdtempSync(join(tmpdir(), 'package-file-'));
const chain = chainOf(2000);
const WORKER = pathToFileURL(resolve(import.meta.dirname, '../../../src/verifier/verify/range-worker.ts')).href;

function fileOf(name: string, entries: SentEntry[]): string {
  const path = join(folder, name);
  writeFileSync(path, JSON.stringify(packageOf(entries, { first_sequence: 1, last_sequence: 2000 })));
  return path;
}
const intact = fileOf('intact.json', chain);

/** Sections whose content is hashed, so that the reader visits the bytes of every entry. */
const SECTIONS = [{ first: 2, last: 1900, byContent: true }];

interface Asked extends Partial<Omit<FileReadingOptions, 'threads'>> {
  threads?: number;
  program?: URL;
}

async function read(path: string, { threads: count = 1, program, ...options }: Asked, keys: SealKeys = KEYS) {
  const begin = () =>
    new PackageReader(defaultContract, keys, { watch: () => [3, 1000, 1999], compared: () => SECTIONS });
  await using threads = startRangeThreads(count - 1, program);
  const { reader, segments } = await readPackageFile(path, begin, { threads, rangeBytes: 50_000, ...options });
  return { reading: plain(reader.finish()), segments };
}

let programs = 0;

/**
 * Returns a program for the other threads, which start too slowly for a small file: the main thread waits after its
 * first block until one of them has called `ready`.
 */
function helpedBy(text: string): Pick<Asked, 'program' | 'signal'> {
  const path = join(folder, `${++programs}.mjs`);
  const ready = `${path}.ready`;
  writeFileSync(
    path,
    `import { writeFileSync } from 'node:fs';
    import { MessagePort, parentPort } from 'node:worker_threads';
    const ready = () => writeFileSync(${JSON.stringify(ready)}, '');
    ${text}`,
  );
  let blocks = 0;
  const cell = new Int32Array(new SharedArrayBuffer(4));
  const throwIfAborted = () => {
    if (++blocks === 2) while (!existsSync(ready)) Atomics.wait(cell, 0, 0, 5);
  };
  return { program: pathToFileURL(path), signal: { throwIfAborted } as AbortSignal };
}

/** Returns the real program, with this code instead of sending its answers. */
const answering = (send: string) => `
  const { postMessage } = MessagePort.prototype;
  let answers = 0;
  MessagePort.prototype.postMessage = function (reply, ...rest) {
    const { value: answer } = reply;
    if (answer === undefined) return postMessage.call(this, reply, ...rest);
    const post = (value) => postMessage.call(this, { value }, ...rest);
    const { decoded } = answer;
    answers++;
    ${send};
    ready();
  };
  await import(${JSON.stringify(WORKER)});`;

function plain({ walk, facts, defect }: PackageReading) {
  return { ...walk, findings: walk.findings.list(), total: walk.findings.total(), facts, defect };
}

const repeated = [...chain.slice(0, 1700), ...chain.slice(1600)];
const altered = { ...chain[1500], actor: 'mallory' } as SentEntry;
/** Files; true if sequence numbers are consecutive. */
const FILES: [string, string, boolean][] = [
  ['intact', intact, true],
  ['altered', fileOf('altered.json', chain.with(1500, altered)), true],
  ['with a gap', fileOf('gap.json', chain.toSpliced(900, 100)), false],
  ['repeated', fileOf('repeated.json', repeated), false],
];

describe.each(FILES)('a file, %s, is read the same', (name, path, followsThroughout) => {
  test.each([2, 3])('by %i threads', async (threads) => {
    const { reading, segments } = await read(path, { threads, ...helpedBy(answering('post(answer)')) });
    expect(reading).toEqual((await read(path, {})).reading);
    expect(segments).toBeGreaterThan(0);
    expect(reading.contents.size).toBe(followsThroughout ? 4 : 0);
    if (name === 'intact') expect(reading).toMatchObject({ entries: 2000, seals: { verified: 2000 }, total: 0 });
  });
});

test('one thread reads alone, and so does one of many where the file is small', async () => {
  expect((await read(intact, { threads: 1 })).segments).toBe(0);
  expect((await read(intact, { threads: 2, rangeBytes: 2 ** 20 })).segments).toBe(0);
});

test('ranges that begin where entries do are read the same, whatever is still to be read before them', async () => {
  const path = join(folder, 'aligned.json');
  const [head = '', foot = ''] = JSON.stringify(packageOf([])).split(/(?<="entries":\[)/);
  const edited = chain.map((entry, index) => (index % 50 === 30 ? { ...entry, actor: 'mallory' } : entry));
  const parts = edited.map((entry, index) => JSON.stringify(entry) + (index < edited.length - 1 ? ',' : ''));
  const padded = (part: string) => part + ' '.repeat(1024 - Buffer.byteLength(part));
  writeFileSync(path, [head, ...parts].map(padded).join('') + foot);
  const whole = await read(path, { rangeBytes: 2 ** 22 });
  expect(whole.reading).toMatchObject({ entries: 2000, defect: null });
  const ranged = await read(path, { rangeBytes: 40 * 1024 });
  expect(ranged.reading).toEqual(whole.reading);
});

const large = join(folder, 'large.json');
writeFileSync(large, '');
truncateSync(large, 40 * 2 ** 20);

test.each([
  ['a large file', large, null, Math.min(availableParallelism(), 4) - 1],
  ['a large file that one is asked for', large, 1, 0],
  ['a small file', intact, null, 0],
  ['a small file that more are asked for', intact, 3, 2],
  ['what is no file', folder, null, 0],
  ['what is not there', join(folder, 'nothing'), 3, 0],
])('the threads besides the main one for %s', async (_words, path, asked, count) => {
  await using threads = rangeThreadsFor(path, asked);
  expect(threads.count).toBe(count);
});

test('an account, whose chains stand side by side, is read by the main thread', async () => {
  const path = join(folder, 'account.json');
  writeFileSync(path, JSON.stringify({ ...packageOf(chain.slice(0, 500)), stream: undefined, entries: chain }));
  expect((await read(path, { threads: 2 })).reading).toEqual((await read(path, {})).reading);
});

const TAKES_ALL = 'ranges.owners.forEach((_, at) => Atomics.compareExchange(ranges.owners, at, 0, owner))';
const FAULTS: [string, string][] = [
  ['ends at once', 'ready(); process.exit(3);'],
  ['throws', 'ready(); throw new Error("no");'],
  ['throws once it is told', "parentPort.once('message', () => { ready(); throw new Error('no'); });"],
  [
    'takes all there is, and ends',
    `parentPort.once('message', ({ request: { owner, ranges } }) => { ${TAKES_ALL}; ready(); });`,
  ],
  ['runs out of memory', 'ready(); const all = []; for (;;) all.push(new Array(1e5).fill(all.length));'],
  ['dies after two answers', answering('post(answer); if (answers === 2) { ready(); process.exit(1); }')],
  ['finds nothing', answering('post({ ...answer, decoded: null })')],
  ['is off by one', answering('decoded.start++; post(answer)')],
  ['begins where it did not', answering('decoded.start = 0; post(answer)')],
];

test.each(FAULTS)('a thread that %s is as good as none', async (_words, program) => {
  const { reading } = await read(intact, { threads: 3, ...helpedBy(program) });
  expect(reading).toEqual((await read(intact, {})).reading);
});

test('so is one that cannot be started', async () => {
  const program = pathToFileURL(join(folder, 'nowhere.mjs'));
  expect(await read(intact, { threads: 3, program })).toEqual(await read(intact, {}));
});

/** An arbitrary file time. */
const TIME = 1_000_000_000;

const stuttering = chain.flatMap((entry, index) => (index % 50 === 0 ? [entry, entry] : [entry]));
/** Overwrites a file from a position that the thread's program can name. */
const overwrite = (path: string, text: string, from: string) => `
  const file = fs.openSync(${path}, 'r+');
  fs.writeSync(file, ${text}.padEnd(fs.fstatSync(file).size - ${from}, ' '), ${from});
  fs.closeSync(file);
  fs.utimesSync(${path}, ${TIME}, ${TIME});`;
const alteredText = JSON.stringify(JSON.stringify(packageOf(chain.with(1500, altered))));

const CHANGES: [string, SentEntry[], (path: string) => string][] = [
  ['grows', chain, (path) => `fs.appendFileSync(${path}, ' ');`],
  ['becomes another one, as large and as old', chain, (path) => overwrite(path, alteredText, '0')],
  ['loses entries of which something is to be said', stuttering, (path) => overwrite(path, '""', 'decoded.start')],
];

test.each(CHANGES)('a file that %s while it is read is read again by one thread', async (name, entries, change) => {
  const path = fileOf(`${name}.json`, entries);
  utimesSync(path, TIME, TIME);
  const program = answering(`if (answers === 1) { ${change(JSON.stringify(path))} } post(answer)`);
  const { reading, segments } = await read(path, { threads: 2, ...helpedBy(`import fs from 'node:fs'; ${program}`) });
  expect(segments).toBe(0);
  expect(reading).toEqual((await read(path, {})).reading);
  appendFileSync(path, 'x');
  expect((await read(path, { threads: 2 })).reading.defect).toMatchObject({ code: 'package/unreadable' });
});

test('an interruption ends the reading, and the threads', async () => {
  const before = threads();
  const signal = AbortSignal.abort(new Error('interrupted'));
  await expect(read(intact, { threads: 3, signal })).rejects.toThrow('interrupted');
  expect(threads()).toBe(before);
});

function threads(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'MessagePort').length;
}
