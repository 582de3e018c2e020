import { execFileSync } from 'node:child_process';
import { chmodSync, linkSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { crc32, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  digestOfFile,
  filesOfPackage,
  PACKAGE_LIMITS,
} from '../../../../src/platform/endpoints/packages/package-files.ts';
import { debOf, hexSha256, type TarEntry, tarOf } from './deb-files.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'deb-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

async function filesIn(deb: Buffer, limits = PACKAGE_LIMITS) {
  const path = join(folder, 'read.deb');
  writeFileSync(path, deb);
  return await filesOfPackage(path, await digestOfFile(path), limits);
}

const TOOL: TarEntry = { name: './usr/bin/tool', mode: 0o4755, uid: 0, gid: 42, content: 'x' };

/** 305 bytes, so tar writes the name in an extra header. */
const LONG = `usr/share/${'long/'.repeat(60)}ü`;

test.each(['none', 'gzip', 'xz', 'zstd'])(
  'what dpkg-deb packs with %s is read with digests and attributes',
  async (form) => {
    const root = mkdtempSync(join(folder, 'root-'));
    const control =
      'Package: tool\nVersion: 1\nArchitecture: all\nMaintainer: Nobody <nobody@example.org>\nDescription: of a test\n';
    for (const path of ['DEBIAN', 'usr/bin', dirname(LONG)]) mkdirSync(join(root, path), { recursive: true });
    writeFileSync(join(root, 'DEBIAN/control'), control);
    writeFileSync(join(root, 'usr/bin/tool'), 'x');
    chmodSync(join(root, 'usr/bin/tool'), 0o4755);
    linkSync(join(root, 'usr/bin/tool'), join(root, 'usr/bin/twin'));
    writeFileSync(join(root, LONG), 'y'.repeat(1_000_000));
    chmodSync(join(root, LONG), 0o600);
    const built = join(folder, `${form}.deb`);
    execFileSync('dpkg-deb', ['--root-owner-group', `-Z${form}`, '--build', root, built]);
    const files = await filesOfPackage(built, await digestOfFile(built));
    expect(files.toSorted((one, other) => (one.path < other.path ? -1 : 1))).toEqual([
      { path: '/usr/bin/tool', sha256: hexSha256('x'), mode: 0o4755, uid: 0, gid: 0 },
      { path: '/usr/bin/twin', sha256: hexSha256('x'), mode: 0o4755, uid: 0, gid: 0 },
      { path: `/${LONG}`, sha256: hexSha256('y'.repeat(1_000_000)), mode: 0o600, uid: 0, gid: 0 },
    ]);
  },
);

test('a name that is no UTF-8 explains nothing, and neither does what is no file', async () => {
  const tar = await tarOf([
    TOOL,
    { name: './usr/bin/aaa', content: 'z' },
    { name: './usr/bin/pipe', type: 'fifo' },
    { name: './usr/bin/soft', type: 'symlink', linkname: '/etc/passwd' },
  ]);
  const bytes = renamed(tar, './usr/bin/aaa', Buffer.from('./usr/bin/\xff\xfe\xfd', 'latin1'));
  const files = await filesIn(await debOf({ entries: [], data: { name: 'data.tar', bytes } }));
  expect(files.map(({ path }) => path)).toEqual(['/usr/bin/tool']);
});

/** Returns a tar with one entry renamed to a name of the same length. */
function renamed(tar: Buffer, from: string, to: Buffer): Buffer {
  const bytes = Buffer.from(tar);
  const at = bytes.indexOf(from);
  to.copy(bytes, at);
  bytes.fill(' ', at + 148, at + 156);
  const sum = bytes.subarray(at, at + 512).reduce((all, byte) => all + byte, 0);
  bytes.write(`${sum.toString(8).padStart(6, '0')}\0 `, at + 148);
  return bytes;
}

const HOSTILE: readonly (readonly [words: string, why: RegExp, deb: () => Promise<Buffer> | Buffer])[] = [
  ...(['../etc/passwd', './usr/../../etc/passwd', '/etc/passwd', './usr//bin/x', './usr/./bin/x'] as const).map(
    (name) =>
      [`the path ${name}`, /which leaves its folder/, () => debOf({ entries: [{ name, content: 'x' }] })] as const,
  ),
  ['one path twice', /contains "usr\/bin\/tool" twice/, () => debOf({ entries: [TOOL, TOOL] })],
  [
    'a hard link to what it has not got',
    /link "usr\/bin\/x", whose target/,
    () => debOf({ entries: [{ name: './usr/bin/x', type: 'link', linkname: './etc/passwd' }] }),
  ],
  [
    'a hard link that leads out',
    /which leaves its folder/,
    () => debOf({ entries: [TOOL, { name: './usr/bin/x', type: 'link', linkname: '../usr/bin/tool' }] }),
  ],
  [
    'a header that dpkg does not know',
    /of a type that dpkg does not support/,
    () => debOf({ entries: [{ ...TOOL, pax: { path: './usr/bin/sudo' } }] }),
  ],
  [
    'no data.tar',
    /cannot be opened: .*data/,
    () => debOf({ entries: [], data: { name: 'other', bytes: Buffer.from('x') } }),
  ],
  [
    'a data.tar that is cut off',
    /cannot be opened/,
    async () => debOf({ entries: [], data: { name: 'data.tar.gz', bytes: (await packedTool()).subarray(0, 60) } }),
  ],
  [
    'a tar that ends in a file',
    /cannot be opened/,
    async () =>
      debOf({
        entries: [],
        data: { name: 'data.tar', bytes: (await tarOf([{ ...TOOL, content: 'x'.repeat(5000) }])).subarray(0, 2048) },
      }),
  ],
  [
    'a data.tar that is none',
    /cannot be opened/,
    () => debOf({ entries: [], data: { name: 'data.tar.xz', bytes: Buffer.from('no xz at all') } }),
  ],
  [
    'a window of 4 GB',
    /cannot be opened: .*[Mm]emory/,
    async () => debOf({ entries: [], data: { name: 'data.tar.xz', bytes: await widened() } }),
  ],
  [
    'a header with another checksum',
    /cannot be opened/,
    async () => debOf({ entries: [], data: { name: 'data.tar', bytes: spoiled(await tarOf([TOOL])) } }),
  ],
  [
    'no archive at all',
    /cannot be opened: .*not a Debian/,
    () => Buffer.from('no deb, and long enough to be asked for its magic'),
  ],
  ['nothing in it', /cannot be opened/, () => Buffer.alloc(0)],
];

/** Returns a data.tar.xz that requests a window of 4 GB (https://tukaani.org/xz/xz-file-format.txt, 3.1 and 5.3.1). */
async function widened(): Promise<Buffer> {
  const bytes = execFileSync('xz', ['--stdout'], { input: await tarOf([TOOL]) });
  const header = bytes.subarray(12, 20);
  header[4] = 40;
  bytes.writeUInt32LE(crc32(header), 20);
  return bytes;
}

async function packedTool(): Promise<Buffer> {
  return gzipSync(await tarOf([TOOL]));
}

function spoiled(tar: Buffer): Buffer {
  const bytes = Buffer.from(tar);
  bytes.write('sudo', 10);
  return bytes;
}

test.each(HOSTILE)('a package with %s is refused', async (_words, why, deb) => {
  await expect(filesIn(await deb())).rejects.toThrow(why);
});

describe('a package that is larger than what is taken of one', () => {
  const many = (count: number) => Array.from({ length: count }, (_, n) => ({ name: `./f/${n}`, content: 'x' }));

  test.each([
    [
      'unpacked',
      { bytes: 10_000_000 },
      /more than 10000000 bytes when/,
      () => [{ name: './zeros', content: Buffer.alloc(50_000_000) }],
    ],
    ['in entries', { entries: 100 }, /more than 100 entries/, () => many(101)],
    [
      'in the same folder again and again',
      { entries: 100 },
      /more than 100 entries/,
      () => Array.from({ length: 101 }, () => ({ name: './f/', type: 'directory' as const })),
    ],
    ['in paths', { pathBytes: 1000 }, /paths of more than 1000 bytes/, () => many(300)],
  ] as const)('%s is refused', async (_words, limits, why, entries) => {
    await expect(filesIn(await debOf({ entries: [...entries()] }), { ...PACKAGE_LIMITS, ...limits })).rejects.toThrow(
      why,
    );
  });
});

test('a package that is another one by the time it is opened is refused', async () => {
  const path = join(folder, 'changing.deb');
  const signed = await debOf({ entries: [TOOL] });
  writeFileSync(path, await debOf({ entries: [{ ...TOOL, content: 'y' }] }));
  await expect(filesOfPackage(path, { sha256: hexSha256(signed), size: signed.length })).rejects.toThrow(
    'changed while',
  );
});
