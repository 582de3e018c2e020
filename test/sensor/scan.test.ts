import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  closeSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { pathBytes } from '../../src/sensor/report/line.ts';
import { paceOf } from '../../src/sensor/scan/pace.ts';
import { run } from '../support/process.ts';
import { someRows } from '../support/some-rows.ts';
import { asNobody, emptyFolder, openFolder, scanOf } from './scanned.ts';

let root: string;
beforeEach(() => {
  root = emptyFolder();
});

const sha256 = (data: Buffer | string) => createHash('sha256').update(data).digest('hex');
const MIB = 2 ** 20;
/** Larger than one read. */
const LARGE = 3 * MIB;

function put(name: string, content: string | Buffer = name): string {
  const path = join(root, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  chmodSync(path, 0o755);
  return path;
}

describe('a file', () => {
  test('is told of with its digest, size, permissions and owners', async () => {
    const path = put('tool', 'content');
    chmodSync(path, 0o4751);
    chownSync(path, 65_534, 12);
    chmodSync(path, 0o4751);
    const { lines, complete, bytes } = await scanOf([root]);
    expect(lines).toEqual([
      { path, type: 'file', sha256: sha256('content'), size: 7, mode: '4751', uid: 65_534, gid: 12 },
    ]);
    expect([complete, bytes]).toEqual([true, 7]);
  });

  test.each([0, 1, 256 * 1024 - 1, 256 * 1024, 256 * 1024 + 1, LARGE])('of %i bytes is read whole', async (size) => {
    const content = Buffer.alloc(size, 'content ');
    expect((await scanOf([put('tool', content)])).lines).toMatchObject([{ sha256: sha256(content), size }]);
  });

  test('is read though its size and times are as before', async () => {
    const path = put('tool', 'content');
    utimesSync(path, 1, 1);
    const first = await scanOf([root]);
    writeFileSync(path, 'CONTENT');
    utimesSync(path, 1, 1);
    const second = await scanOf([root]);
    expect(statSync(path)).toMatchObject({ mtimeMs: 1000, size: 7 });
    expect([first.at(path), second.at(path)]).toMatchObject([
      { sha256: sha256('content') },
      { sha256: sha256('CONTENT') },
    ]);
    expect(second.rootHash).not.toBe(first.rootHash);
  });

  test('is read without a trace of it', async () => {
    const path = put('tool');
    const yesterday = new Date(Date.now() - 86_400_000);
    utimesSync(path, yesterday, yesterday);
    await scanOf([root]);
    expect(statSync(path).atimeMs).toBe(yesterday.getTime());
  });

  test('with several names is read once, and told of by each', async () => {
    const path = put('tool', Buffer.alloc(LARGE, 'a'));
    linkSync(path, join(root, 'same'));
    const { lines, bytes } = await scanOf([root]);
    expect(lines.map(({ path, type }) => [path, type])).toEqual([
      [join(root, 'same'), 'file'],
      [path, 'file'],
    ]);
    expect(bytes).toBe(LARGE);
  });

  test('with several names that is changed between them is read again', async () => {
    const path = put('a', 'before');
    linkSync(path, join(root, 'b'));
    const seen: string[] = [];
    await scanOf([root], {
      write(text) {
        seen.push(JSON.parse(text).sha256);
        writeFileSync(path, 'after!');
      },
    });
    expect(seen).toEqual([sha256('before'), sha256('after!')]);
  });

  test('that is larger than any binary is not read', async () => {
    const path = put('endless', '');
    truncateSync(path, 300 * 1024 * MIB);
    const { at, bytes, complete } = await scanOf([root]);
    expect(at(path)).toMatchObject({ type: 'unreadable', why: 'EFBIG', size: 300 * 1024 * MIB, mode: '0755' });
    expect([bytes, complete]).toEqual([0, true]);
  });

  test('that may not be read is told of, and what else is there, too', async () => {
    root = openFolder();
    const path = put('closed', 'content');
    put('open');
    chmodSync(path, 0o700);
    const { at, lines, complete, unread } = await asNobody(() => scanOf([root]));
    expect(at(path)).toMatchObject({ type: 'unreadable', why: 'EACCES', size: 7, mode: '0700' });
    expect([lines.length, complete, unread]).toEqual([2, true, 1]);
  });
});

describe('what changes while it is read', () => {
  /** Runs a function after each piece that is read, with the piece's number. */
  const during = (change: (piece: number) => void) => {
    let piece = 0;
    return { pace: { took: () => void change(++piece) } };
  };
  const overwrite = (path: string, text: string) => {
    const fd = openSync(path, 'r+');
    writeSync(fd, text, 0);
    closeSync(fd);
  };

  test('once, is read again', async () => {
    const path = put('tool', Buffer.alloc(LARGE));
    const { at } = await scanOf(
      [root],
      during((piece) => piece === 2 && overwrite(path, 'changed')),
    );
    const content = readFileSync(path);
    expect(content.subarray(0, 7).toString()).toBe('changed');
    expect(at(path)).toMatchObject({ type: 'file', sha256: sha256(content) });
  });

  test.each<[string, (path: string, piece: number) => void]>([
    ['is overwritten', (path, piece) => overwrite(path, `${piece}`)],
    ['grows', (path) => appendFileSync(path, 'more')],
    ['shrinks', (path, piece) => truncateSync(path, LARGE - piece)],
    ['changes its permissions', (path, piece) => chmodSync(path, piece % 2 === 0 ? 0o755 : 0o744)],
    [
      'has its times set back',
      (path, piece) => {
        overwrite(path, `${piece}`);
        utimesSync(path, 1, 1);
      },
    ],
  ])('again and again, and %s, is told of as unstable, and the scan ends', async (_name, change) => {
    const path = put('tool', Buffer.alloc(LARGE));
    put('zeta');
    const { at, lines, complete, unread } = await scanOf(
      [root],
      during((piece) => change(path, piece)),
    );
    expect(at(path)).toEqual({ path, type: 'unstable', why: 'changed', mode: expect.any(String), uid: 0, gid: 0 });
    expect([lines.length, complete, unread]).toEqual([2, true, 1]);
  });

  test('and goes away, is not there', async () => {
    const path = put('tool', Buffer.alloc(LARGE));
    const { lines, complete } = await scanOf(
      [root],
      during(() => rmSync(path, { force: true })),
    );
    expect([lines, complete]).toEqual([[], true]);
  });

  test('and is replaced by a whole one, is that one', async () => {
    const path = put('tool', Buffer.alloc(LARGE));
    const other = join(emptyFolder(), 'other');
    writeFileSync(other, 'upgraded');
    const { lines } = await scanOf(
      [root],
      during((piece) => piece === 1 && renameSync(other, path)),
    );
    expect(lines).toMatchObject([{ path, type: 'file', sha256: sha256('upgraded') }]);
  });

  test('and is replaced by a link, is unstable, and nothing is read through the link', async () => {
    const path = put('tool', Buffer.alloc(LARGE));
    const outside = join(emptyFolder(), 'secret');
    writeFileSync(outside, 'secret');
    const change = (piece: number) => {
      if (piece > 1) return;
      rmSync(path);
      symlinkSync(outside, path);
    };
    const { lines } = await scanOf([root], during(change));
    expect(lines).toMatchObject([{ path, type: 'unstable' }]);
  });

  test('folder by folder, is told of as it is found', async () => {
    for (const name of ['a/1', 'b/1', 'b/2', 'c', 'd/1', 'e']) put(name);
    const seen: string[] = [];
    const changes: Record<string, () => void> = {
      'a/1': () => rmSync(join(root, 'b'), { recursive: true }),
      // The path was listed as a file and is now a folder, and the other way round.
      c: () => {
        rmSync(join(root, 'd'), { recursive: true });
        put('d', 'a file');
        rmSync(join(root, 'e'));
        put('e/1');
      },
    };
    const { complete } = await scanOf([root], {
      write(text) {
        const { path, type } = JSON.parse(text);
        const name = path.slice(root.length + 1);
        seen.push(`${name} ${type}`);
        changes[name]?.();
      },
    });
    expect(seen).toEqual(['a/1 file', 'c file', 'd file', 'e unstable']);
    expect(complete).toBe(true);
  });
});

describe('what is no file', () => {
  test('is told of by its type, and not opened', async () => {
    const link = join(root, 'link');
    symlinkSync('/etc/shadow', link);
    symlinkSync(Buffer.from([0x2e, 0xff]), join(root, 'link-of-bytes'));
    execFileSync('mkfifo', [join(root, 'fifo')]);
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(join(root, 'socket'), resolve));
    const { at, lines, bytes, unread } = await scanOf([root, '/dev/null']);
    server.close();
    expect(at(link)).toEqual({ path: link, type: 'link', target: '/etc/shadow', mode: '0777', uid: 0, gid: 0 });
    expect(at(join(root, 'link-of-bytes'))).toMatchObject({ type: 'link', target_base64: 'Lv8=' });
    expect(at(join(root, 'fifo'))).toMatchObject({ type: 'fifo', mode: '0644' });
    expect(at(join(root, 'socket'))).toMatchObject({ type: 'socket' });
    expect(at('/dev/null')).toMatchObject({ type: 'device', device: 'char 1:3', mode: '0666' });
    expect([lines.length, bytes, unread]).toEqual([5, 0, 0]);
  });

  test('a folder that may not be listed makes the scan incomplete', async () => {
    root = openFolder();
    const closed = join(root, 'closed');
    put('closed/tool');
    put('closed-too');
    chmodSync(closed, 0o700);
    const { lines, complete } = await asNobody(() => scanOf([root]));
    expect(lines).toMatchObject([{ path: closed, type: 'unreadable', why: 'EACCES' }, { path: `${closed}-too` }]);
    expect(complete).toBe(false);
  });

  test('a folder that is deeper than a path may be is told of', async () => {
    const script = `import os,sys
os.chdir(sys.argv[1])
for _ in range(20):
    os.mkdir('d' * 250); os.chdir('d' * 250)`;
    execFileSync('python3', ['-c', script, root]);
    const { lines, complete } = await scanOf([root]);
    execFileSync('rm', ['-rf', root]);
    expect(lines).toMatchObject([{ type: 'unreadable', why: 'ENAMETOOLONG' }]);
    expect(complete).toBe(false);
  });

  test('another file system is walked only when it is named', async () => {
    const own = execFileSync('mktemp', ['-d', '/dev/shm/endpoint-XXXXXX'], { encoding: 'utf8' }).trim();
    try {
      writeFileSync(join(own, 'tool'), 'content');
      const unnamed = await scanOf(['/dev']);
      expect(unnamed.at('/dev/shm')).toMatchObject({ type: 'other', why: 'other_filesystem' });
      expect(unnamed.at(join(own, 'tool'))).toBeUndefined();
      const named = await scanOf(['/dev'], { otherFilesystems: [own] });
      expect(named.at(join(own, 'tool'))).toMatchObject({ type: 'file', sha256: sha256('content') });
      expect((await scanOf([own])).lines).toHaveLength(1);
    } finally {
      rmSync(own, { recursive: true });
    }
  });
});

describe('roots', () => {
  test('are walked once each, however they are named, at the target of a link', async () => {
    put('bin/tool');
    put('lib/deep/tool');
    symlinkSync('bin', join(root, 'sbin'));
    symlinkSync('nowhere', join(root, 'dangling'));
    const names = ['sbin', 'lib/deep', 'bin/', 'lib', 'bin/../bin', 'bin/tool', 'dangling', 'not-there'];
    const { lines, complete } = await scanOf(names.map((name) => `${root}/${name}`));
    expect(lines.map(({ path }) => path?.slice(root.length))).toEqual(['/bin/tool', '/lib/deep/tool']);
    expect(complete).toBe(true);
  });

  test('that nothing can be said of are told of', async () => {
    root = openFolder();
    put('closed/tool');
    chmodSync(join(root, 'closed'), 0o700);
    const { lines, complete } = await asNobody(() => scanOf([join(root, 'closed/tool')]));
    expect(lines).toMatchObject([{ path: join(root, 'closed/tool'), type: 'unreadable', why: 'EACCES' }]);
    expect(complete).toBe(false);
  });

  test('that are not there leave an empty scan', async () => {
    expect(await scanOf([join(root, 'nothing')])).toMatchObject({ lineCount: 0, complete: true, rootHash: sha256('') });
  });
});

describe('names', () => {
  test('are bytes', async () => {
    const names = ['\u001b[31m', 'two\nlines', '\u2028', '\u202e', ' ', '-rf', '*', '\\', 'ü', 'u\u0308'].map((name) =>
      Buffer.from(name),
    );
    names.push(Buffer.from([0xff, 0xfe]), Buffer.from([0x80]), Buffer.from([0xed, 0xa0, 0x80]));
    const paths = names.map((name) => Buffer.concat([Buffer.from(`${root}/`), name]));
    for (const path of paths) writeFileSync(path, path);
    const { lines, at } = await scanOf([root]);
    expect(lines).toHaveLength(names.length);
    for (const path of paths) expect(at(path)).toMatchObject({ sha256: sha256(path) });
    expect(lines.filter(({ path_base64 }) => path_base64 !== undefined)).toHaveLength(3);
  });

  test('in any tree are the ones that find finds, in the order of their bytes', async () => {
    const name = fc.stringMatching(/^[a-c -0]{1,3}$/).filter((one) => !/^\.{1,2}$|\//.test(one));
    const tree = fc.uniqueArray(fc.array(name, { minLength: 1, maxLength: 4 }), { maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(tree, async (paths) => {
        rmSync(root, { recursive: true });
        mkdirSync(root);
        for (const path of paths) {
          try {
            put(path.join('/'));
          } catch {
            // A file is at the path of a folder.
          }
        }
        const found = (await run('find', [root, '-type', 'f', '-print0'])).split('\0').slice(0, -1);
        const { lines } = await scanOf([root]);
        expect(lines.map((line) => pathBytes(line).toString('latin1'))).toEqual(found.sort());
      }),
      { numRuns: 30 },
    );
  });
});

test('no more bytes are read in a second than may be', async () => {
  put('tool', Buffer.alloc(LARGE));
  const started = performance.now();
  await scanOf([root], { pace: paceOf(12 * MIB) });
  const seconds = (performance.now() - started) / 1000;
  expect(seconds).toBeGreaterThan(0.2);
});

test.each(someRows(['/usr/sbin', '/usr/bin'], () => 'a folder'))(
  'the digests of %s are those of sha256sum',
  async (folder) => {
    const { lines, complete } = await scanOf([folder]);
    const files = lines.filter((line) => line.type === 'file');
    const said = await run('find', [folder, '-type', 'f', '-exec', 'sha256sum', '-z', '{}', '+']);
    const expected = said
      .split('\0')
      .slice(0, -1)
      .sort((one, other) => (one.slice(66) < other.slice(66) ? -1 : 1));
    expect(files.map(({ sha256, path }) => `${sha256}  ${path}`)).toEqual(expected);
    expect([files.length > 100, complete]).toEqual([true, true]);
  },
);
