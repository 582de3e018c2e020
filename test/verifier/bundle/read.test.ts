import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateRawSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openBundle } from '../../../src/verifier/bundle/read.ts';
import { type ForeignEntry, foreignBag, outcomeOf, problemsOf, writeForeignZip, writeSample } from './sample.ts';

let work: string;
let target: string;

beforeEach(async () => {
  work = await mkdtemp(join(tmpdir(), 'bundle-read-'));
  target = join(work, 'bundle.zip');
});

afterEach(async () => {
  await rm(work, { recursive: true });
});

const EVIDENCE = { 'data/evidence.json': '{}' };

describe('a sound bundle', () => {
  it('has no findings, an identity, and gives its files', async () => {
    const written = await writeSample(target);
    const bundle = await openBundle(target);
    expect(await bundle.checkIntegrity()).toEqual([]);
    expect(bundle.identity).toBe(written.identity);
    expect(bundle.folder).toBe('payments-12345678');
    expect(bundle.entries).toEqual(written.files.map(({ path, bytes }) => ({ path, bytes })));
    expect(await bundle.readFile('data/checkpoints/12.tsr', 5)).toEqual(Uint8Array.of(0x30, 3, 2, 1, 0));
    expect(Buffer.from(await bundle.readFile('README.txt', 100)).toString()).toBe('How to check this.\n');
    await bundle.close();
  });

  it('shows every byte to an observer while it is checked', async () => {
    const { files } = await writeSample(target);
    const seen = new Map<string, ReturnType<typeof createHash>>();
    const ended: { path: string; sha256: string }[] = [];
    const bundle = await openBundle(target);
    await bundle.checkIntegrity({
      async onChunk(path, chunk) {
        seen.set(path, (seen.get(path) ?? createHash('sha256')).update(chunk));
      },
      onEnd(path, { sha256 }) {
        expect((seen.get(path) ?? createHash('sha256')).digest('hex')).toBe(sha256);
        ended.push({ path, sha256 });
      },
    });
    await bundle.close();
    expect(ended).toEqual(files.map(({ path, sha256 }) => ({ path, sha256 })));
  });

  it('ends the check with what an observer throws', async () => {
    await writeSample(target);
    const bundle = await openBundle(target);
    const onChunk = () => {
      throw new RangeError('enough');
    };
    await expect(bundle.checkIntegrity({ onChunk })).rejects.toThrow(RangeError);
    await bundle.close();
  });

  it('refuses what it has not, and more than is asked for', async () => {
    await writeSample(target);
    const bundle = await openBundle(target);
    await expect(bundle.readFile('data/none', 9)).rejects.toMatchObject({ code: 'not-found' });
    await expect(bundle.readFile('data/evidence.json', 10)).rejects.toMatchObject({ code: 'unreadable' });
    await bundle.close();
  });

  it.each<[string, Partial<ForeignEntry>]>([
    ['stored', { method: 'stored' }],
    ['deflated', { method: 'deflated' }],
    ['with zip64 sizes', { zip64: true }],
    ['without Unix modes', { mode: 0 }],
  ])('may be made by another program, %s', async (_, form) => {
    const folder: ForeignEntry = { name: 'bag/data/', content: '', mode: 0o040755, method: 'stored' };
    writeForeignZip(target, [folder, ...foreignBag(EVIDENCE).map((entry) => ({ ...entry, ...form }))]);
    expect(await problemsOf(target)).toEqual([]);
  });

  it('may end with zip64 records, which must agree with the short one', async () => {
    writeForeignZip(target, foreignBag(EVIDENCE));
    const long = withZip64End(await readFile(target));
    await writeFile(target, long);
    expect(await problemsOf(target)).toEqual([]);
    for (let position = long.length - 98; position < long.length; position += 1) {
      const flipped = Buffer.from(long);
      flipped[position] = (flipped[position] ?? 0) ^ 1;
      await writeFile(target, flipped);
      // "Version made by" and "version needed", two bytes each, affect no file.
      const isVoid = position >= long.length - 98 + 12 && position < long.length - 98 + 16;
      expect((await outcomeOf(target)).length === 0, `byte ${position - long.length} from the end`).toBe(isVoid);
    }
  });

  it('may not have more files than the limits allow', async () => {
    writeForeignZip(target, foreignBag(EVIDENCE));
    expect(await problemsOf(target, { maxEntries: 4 })).toEqual([]);
    await expect(problemsOf(target, { maxEntries: 3 })).rejects.toMatchObject({ code: 'unreadable' });
  });

  it('has no names in other scripts, which are read all the same', async () => {
    writeForeignZip(target, foreignBag({ 'data/päyment-日本.json': '{}', 'data/50%25.json': '' }));
    // Python wrote the manifest without RFC 8493's percent-encoding, so one name is another file's.
    expect(await problemsOf(target)).toMatchObject([
      { code: 'bundle/missing-file', path: 'data/50%.json' },
      { code: 'bundle/unexpected-file', path: 'data/50%25.json' },
      { code: 'bundle/unexpected-file', path: 'data/päyment-日本.json' },
    ]);
  });
});

describe('a bundle that is not what its manifests say', () => {
  const without = (path: string) => foreignBag(EVIDENCE).filter(({ name }) => name !== `bag/${path}`);
  const withContent = (path: string, content: string) =>
    foreignBag(EVIDENCE).map((entry) => (entry.name === `bag/${path}` ? { ...entry, content } : entry));
  const added = (path: string) => [...foreignBag(EVIDENCE), { name: `bag/${path}`, content: 'x' }];
  const zeros = '0'.repeat(64);

  it.each<[string, ForeignEntry[], [code: string, path: string][]]>([
    ['altered payload', withContent('data/evidence.json', '[]'), [['bundle/altered', 'data/evidence.json']]],
    [
      'altered tag file',
      withContent('bagit.txt', 'x'),
      [
        ['bundle/malformed', 'bagit.txt'],
        ['bundle/altered', 'bagit.txt'],
      ],
    ],
    ['no payload file', without('data/evidence.json'), [['bundle/missing-file', 'data/evidence.json']]],
    [
      'no bagit.txt',
      without('bagit.txt'),
      [
        ['bundle/missing-file', 'bagit.txt'],
        ['bundle/missing-file', 'bagit.txt'],
      ],
    ],
    [
      'no manifest',
      without('manifest-sha256.txt'),
      [
        ['bundle/missing-file', 'manifest-sha256.txt'],
        ['bundle/missing-file', 'manifest-sha256.txt'],
      ],
    ],
    ['no tag manifest', without('tagmanifest-sha256.txt'), [['bundle/missing-file', 'tagmanifest-sha256.txt']]],
    ['added payload', added('data/more.json'), [['bundle/unexpected-file', 'data/more.json']]],
    ['added tag file', added('more.txt'), [['bundle/unexpected-file', 'more.txt']]],
    [
      'emptied manifest',
      withContent('manifest-sha256.txt', ''),
      [
        ['bundle/unexpected-file', 'data/evidence.json'],
        ['bundle/altered', 'manifest-sha256.txt'],
      ],
    ],
    [
      'wrong declaration',
      foreignBag(EVIDENCE, { 'bagit.txt': 'BagIt-Version: 2.0\n' }),
      [['bundle/malformed', 'bagit.txt']],
    ],
    [
      'wrong Payload-Oxum',
      foreignBag(EVIDENCE, { 'bag-info.txt': 'Payload-Oxum: 3.1\n' }),
      [['bundle/count-differs', 'bag-info.txt']],
    ],
    [
      'two of them',
      foreignBag(EVIDENCE, { 'bag-info.txt': 'Payload-Oxum: 2.1\nPayload-Oxum: 2.1\n' }),
      [['bundle/malformed', 'bag-info.txt']],
    ],
    [
      'bag-info.txt of another kind',
      foreignBag(EVIDENCE, { 'bag-info.txt': '<html>' }),
      [['bundle/malformed', 'bag-info.txt']],
    ],
    [
      'tag file in the payload manifest',
      foreignBag(EVIDENCE, { 'manifest-sha256.txt': `${zeros}  bagit.txt\n` }),
      [
        ['bundle/malformed', 'manifest-sha256.txt'],
        ['bundle/unexpected-file', 'data/evidence.json'],
      ],
    ],
    [
      'manifest that leads outside',
      foreignBag({}, { 'manifest-sha256.txt': `${zeros}  ../../etc/passwd\n` }),
      [['bundle/unsafe-name', '../../etc/passwd']],
    ],
    [
      'manifest line of another kind',
      foreignBag({}, { 'manifest-sha256.txt': 'text\n' }),
      [['bundle/malformed', 'manifest-sha256.txt']],
    ],
  ])('%s', async (_, entries, expected) => {
    writeForeignZip(target, entries);
    expect((await problemsOf(target)).map(({ code, path }) => [code, path])).toEqual(expected);
  });

  it('states both digests of an altered file', async () => {
    writeForeignZip(target, withContent('data/evidence.json', '[]'));
    const digestOf = (text: string) => createHash('sha256').update(text).digest('hex');
    expect(await problemsOf(target)).toMatchObject([{ expected: digestOf('{}'), actual: digestOf('[]') }]);
  });
});

describe('a hostile zip', () => {
  const hostile = (entry: Partial<ForeignEntry>): ForeignEntry[] => [
    ...foreignBag(EVIDENCE),
    { name: 'bag/data/x', content: 'x', ...entry },
  ];

  it.each<[string, Partial<ForeignEntry>, string[]]>([
    ['absolute name', { name: '/etc/passwd' }, ['bundle/unsafe-name', 'bundle/several-folders']],
    ['name that leads outside', { name: 'bag/../../x' }, ['bundle/unsafe-name']],
    ['name with a drive', { name: 'C:/x' }, ['bundle/unsafe-name', 'bundle/several-folders']],
    ['name with a backslash', { name: 'bag/data\\..\\x' }, ['bundle/unsafe-name']],
    ['name with a NUL', { name: 'bag/data/x\u0000.json' }, ['bundle/unsafe-name']],
    ['name with a terminal escape', { name: 'bag/data/\u001b[2J' }, ['bundle/unsafe-name']],
    ['overlong name', { name: `bag/data/${'x/'.repeat(1000)}x` }, ['bundle/unsafe-name']],
    ['second folder', { name: 'other/x' }, ['bundle/several-folders']],
    ['file beside the folder', { name: 'x' }, ['bundle/several-folders']],
    ['name twice', { name: 'bag/data/evidence.json' }, ['bundle/name-collision']],
    ['name in another case', { name: 'bag/data/EVIDENCE.json' }, ['bundle/name-collision']],
    ['file in place of a folder', { name: 'bag/DATA' }, ['bundle/name-collision']],
    ['symbolic link', { mode: 0o120777, content: '/etc/passwd' }, ['bundle/link']],
    ['device', { mode: 0o020666 }, ['bundle/link']],
    ['folder with content', { name: 'bag/data/x/', mode: 0o040755 }, ['bundle/inconsistent-zip']],
    ['rare compression', { method: 'bzip2' }, ['bundle/unreadable']],
  ])('with a %s', async (_, entry, codes) => {
    writeForeignZip(target, hostile(entry));
    const found = (await problemsOf(target)).map(({ code }) => code);
    for (const code of codes) expect(found).toContain(code);
  });

  it('with names that only Unicode tells apart', async () => {
    writeForeignZip(target, foreignBag({ 'data/caf\u00e9': '', 'data/cafe\u0301': '' }));
    expect(await outcomeOf(target)).toContain('bundle/name-collision');
  });

  it('with an encrypted file', async () => {
    writeForeignZip(target, hostile({ method: 'stored' }));
    const bytes = await readFile(target);
    setFlag(bytes, 'bag/data/x', 0x1);
    await writeFile(target, bytes);
    expect(await outcomeOf(target)).toContain('bundle/encrypted');
    writeForeignZip(target, hostile({}));
    const deflated = await readFile(target);
    setFlag(deflated, 'bag/data/x', 0x1);
    await writeFile(target, deflated);
    expect(await outcomeOf(target)).toContain('bundle/encrypted');
  });

  it('with data in a folder, which inflate to more than the nothing that it states', async () => {
    writeForeignZip(target, hostile({ name: 'bag/data/x/', mode: 0o040755, content: 'x'.repeat(50) }));
    const bytes = await readFile(target);
    for (const { sizes } of headersOf(bytes, 'bag/data/x/')) {
      bytes.writeUInt32LE(0, sizes - 4);
      bytes.writeUInt32LE(0, sizes + 4);
    }
    await writeFile(target, bytes);
    expect(await outcomeOf(target)).toContain('bundle/inconsistent-zip');
  });

  it('with a file larger than allowed, before it is inflated', async () => {
    writeForeignZip(target, hostile({ content: 'x'.repeat(1000) }));
    expect(await problemsOf(target, { maxFileBytes: 999 })).toMatchObject([
      { code: 'bundle/too-large', path: 'data/x' },
      { code: 'bundle/unexpected-file' },
    ]);
  });

  it('with a bomb', async () => {
    writeForeignZip(target, hostile({ content: '0'.repeat(20 * 1024 * 1024) }));
    expect(await outcomeOf(target)).toContain('bundle/too-large');
    expect((await problemsOf(target, { maxRatio: 2000 })).map(({ code }) => code)).toEqual(['bundle/unexpected-file']);
  });

  it('with a file that inflates to more than it states', async () => {
    writeForeignZip(target, hostile({ content: '0'.repeat(1_000_000) }));
    const bytes = await readFile(target);
    for (const at of headersOf(bytes, 'bag/data/x')) bytes.writeUInt32LE(10, at.sizes + 4);
    await writeFile(target, bytes);
    const lengths: number[] = [];
    const bundle = await openBundle(target);
    const findings = await bundle.checkIntegrity({
      onChunk(_, chunk) {
        lengths.push(chunk.length);
      },
    });
    await bundle.close();
    expect(findings.map(({ code }) => code)).toEqual(['bundle/unreadable', 'bundle/unexpected-file']);
    expect(Math.max(...lengths)).toBeLessThan(1000);
  });

  it.each([
    ['with a CRC-32 that is not its content’s', -4, 1, 'bundle/unreadable', 'its CRC-32 is not'],
    ['with data that reaches into the next file', 0, 10, 'bundle/inconsistent-zip', 'overlaps'],
  ])('%s', async (_, field, change, code, words) => {
    writeForeignZip(target, foreignBag(EVIDENCE));
    const bytes = await readFile(target);
    for (const { sizes } of headersOf(bytes, 'bag/data/evidence.json')) {
      bytes.writeUInt32LE((bytes.readUInt32LE(sizes + field) ^ change) >>> 0, sizes + field);
    }
    await writeFile(target, bytes);
    expect(await problemsOf(target)).toMatchObject([{ code, message: expect.stringContaining(words) }]);
  });

  it('with two entries that share one content', async () => {
    writeForeignZip(target, hostile({}));
    const bytes = await readFile(target);
    const [, first] = headersOf(bytes, 'bag/bagit.txt');
    const [, second] = headersOf(bytes, 'bag/data/x');
    bytes.writeUInt32LE(bytes.readUInt32LE((first?.start ?? 0) + 42), (second?.start ?? 0) + 42);
    await writeFile(target, bytes);
    expect(await outcomeOf(target)).toContain('bundle/inconsistent-zip');
  });

  it('with bytes hidden after compressed data', async () => {
    const plain = Buffer.from('{}');
    const packed = Buffer.concat([deflateRawSync(plain), Buffer.from('hidden')]);
    writeForeignZip(
      target,
      [...foreignBag(EVIDENCE)].map((entry) => ({ ...entry, method: 'stored' })),
    );
    const bytes = await readFile(target);
    const [local, central] = headersOf(bytes, 'bag/data/evidence.json');
    const at = local?.start ?? 0;
    const dataAt = at + 30 + 'bag/data/evidence.json'.length;
    const grown = Buffer.concat([bytes.subarray(0, dataAt), packed, bytes.subarray(dataAt + plain.length)]);
    const added = packed.length - plain.length;
    const centralAt = (central?.start ?? 0) + added;
    grown.writeUInt16LE(8, at + 8);
    grown.writeUInt32LE(packed.length, at + 18);
    grown.writeUInt16LE(8, centralAt + 10);
    grown.writeUInt32LE(packed.length, centralAt + 20);
    shiftDirectory(grown, at, added);
    await writeFile(target, grown);
    expect(await outcomeOf(target)).toEqual(['bundle/hidden-bytes']);
  });

  it('with an offset no file can have', async () => {
    writeForeignZip(target, hostile({}));
    const bytes = await readFile(target);
    const [, central] = headersOf(bytes, 'bag/data/x');
    bytes.writeUInt32LE(0xfffffff0, (central?.start ?? 0) + 42);
    await writeFile(target, bytes);
    expect(await outcomeOf(target)).toContain('bundle/inconsistent-zip');
  });
});

describe('what is not a whole zip', () => {
  it('is missing', async () => {
    await expect(openBundle(target)).rejects.toMatchObject({ code: 'not-found' });
  });

  it.each([
    ['empty', Buffer.alloc(0)],
    ['text', Buffer.from('{"entries":[]}')],
    ['zeros', Buffer.alloc(100_000)],
    ['only an end record that promises entries', endRecord(3, 46 * 3, 0)],
    ['an end record that points outside', endRecord(1, 46, 0x7fffffff)],
  ])('is %s', async (_, bytes) => {
    await writeFile(target, bytes);
    await expect(openBundle(target)).rejects.toMatchObject({ code: 'unreadable', nextStep: expect.any(String) });
  });

  it('is a folder', async () => {
    await expect(openBundle(work)).rejects.toMatchObject({ code: 'unreadable' });
  });

  it('has a comment', async () => {
    writeForeignZip(target, foreignBag(EVIDENCE), 'a comment no manifest covers');
    expect(await outcomeOf(target)).toEqual(['unreadable']);
  });

  it('holds no bag', async () => {
    await writeFile(target, endRecord(0, 0, 0));
    expect(await outcomeOf(target)).toEqual(['bundle/missing-file', 'bundle/missing-file', 'bundle/missing-file']);
  });
});

/** Returns a zip's end record with nothing before it (APPNOTE 4.3.16). */
function endRecord(entries: number, directoryBytes: number, directoryStart: number): Buffer {
  const bytes = Buffer.alloc(22);
  bytes.writeUInt32LE(0x06054b50, 0);
  bytes.writeUInt16LE(entries, 8);
  bytes.writeUInt16LE(entries, 10);
  bytes.writeUInt32LE(directoryBytes, 12);
  bytes.writeUInt32LE(directoryStart, 16);
  return bytes;
}

/** Returns the zip with a zip64 end (APPNOTE 4.3.14 and 4.3.15). */
function withZip64End(bytes: Buffer): Buffer {
  const start = bytes.length - 22;
  const record = Buffer.alloc(56);
  record.writeUInt32LE(0x06064b50, 0);
  record.writeBigUInt64LE(44n, 4);
  record.writeUInt16LE(45, 12);
  record.writeUInt16LE(45, 14);
  record.writeBigUInt64LE(BigInt(bytes.readUInt16LE(start + 10)), 24);
  record.writeBigUInt64LE(BigInt(bytes.readUInt16LE(start + 10)), 32);
  record.writeBigUInt64LE(BigInt(bytes.readUInt32LE(start + 12)), 40);
  record.writeBigUInt64LE(BigInt(bytes.readUInt32LE(start + 16)), 48);
  const locator = Buffer.alloc(20);
  locator.writeUInt32LE(0x07064b50, 0);
  locator.writeBigUInt64LE(BigInt(start), 8);
  locator.writeUInt32LE(1, 16);
  const short = Buffer.from(bytes.subarray(start));
  short.fill(0xff, 8, 20);
  return Buffer.concat([bytes.subarray(0, start), record, locator, short]);
}

/** Returns the start of a name's local and central headers, with the offsets of sizes and flags in each. */
function headersOf(bytes: Buffer, name: string): { start: number; sizes: number; flags: number }[] {
  const local = bytes.indexOf(name) - 30;
  const central = bytes.lastIndexOf(name) - 46;
  return [
    { start: local, sizes: local + 18, flags: local + 6 },
    { start: central, sizes: central + 20, flags: central + 8 },
  ];
}

function setFlag(bytes: Buffer, name: string, flag: number): void {
  for (const { flags } of headersOf(bytes, name)) bytes.writeUInt16LE(bytes.readUInt16LE(flags) | flag, flags);
}

/** Corrects the directory after `added` bytes were inserted into the data of the member at `after`. */
function shiftDirectory(bytes: Buffer, after: number, added: number): void {
  const end = bytes.length - 22;
  const start = bytes.readUInt32LE(end + 16) + added;
  bytes.writeUInt32LE(start, end + 16);
  for (let at = start; at < end; at += 46 + bytes.readUInt16LE(at + 28) + bytes.readUInt16LE(at + 30)) {
    const offset = bytes.readUInt32LE(at + 42);
    if (offset > after) bytes.writeUInt32LE(offset + added, at + 42);
  }
}
