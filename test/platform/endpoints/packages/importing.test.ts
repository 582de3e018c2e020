import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { verifyPackages } from '../../../../src/platform/endpoints/packages/entries.ts';
import { explainingPackages } from '../../../../src/platform/endpoints/packages/known-files.ts';
import { archivesBefore } from '../../../../src/platform/endpoints/packages/repository.ts';
import { DATABASES, type DatabasePlace, startSqlitePlace } from '../../database/databases.ts';
import { hexSha256 } from './deb-files.ts';
import { DebianArchive, type IndexForm } from './debian-archive.ts';
import { PackagePlace } from './package-place.ts';
import { SigningKey } from './signing-key.ts';

const NOTHING = { opened: 0, known: 0, files: 0, unlisted: [], refused: [] };

let key: SigningKey;
let archive: DebianArchive;
let first: string;
beforeAll(() => {
  key = new SigningKey();
});
afterAll(() => key.remove());
beforeEach(async () => {
  archive = new DebianArchive();
  first = await archive.add({ version: '1:1.0', entries: toolOf('first') });
  await archive.add({ version: '2.0', entries: toolOf('second') });
});
afterEach(() => archive.remove());

/** Adds an empty file, which every package has. */
function toolOf(content: string) {
  return [
    { name: './', type: 'directory' as const },
    { name: './bin/tool', mode: 0o755, content },
    { name: './usr/bin/hard', type: 'link' as const, linkname: './bin/tool' },
    { name: './usr/bin/soft', type: 'symlink' as const, linkname: '../../etc/passwd' },
    { name: './usr/share/doc/tool/empty', mode: 0o644, content: '' },
  ];
}

describe.each(DATABASES)('on %s', (_name, start) => {
  let databases: DatabasePlace;
  let at: PackagePlace;
  let query: (statements: string) => Promise<unknown[]>;
  beforeAll(async () => {
    databases = await start();
  });
  afterAll(() => databases.close());
  beforeEach(async () => {
    const made = await databases.createMigrated();
    at = new PackagePlace(made.database, key.keyring);
    query = made.query;
  });

  test('the files of an archive are known by content and place, and by whose signature', async () => {
    archive.publish(key);
    const outcome = await at.import(archive.root);
    expect(outcome).toMatchObject({ ...NOTHING, opened: 2, files: 6 });
    const signedBy = [`Test Archive ${key.fingerprint}`];
    expect(outcome.archives).toMatchObject([
      { archive: 'Test test', signedBy, packages: 2, indexes: { read: 1, known: 0, missing: 0 } },
    ]);
    const places = ['/bin/tool', '/usr/bin/tool', '/usr/bin/hard', '/usr/bin/soft', '/usr/bin/other'];
    expect(await Promise.all(places.map((path) => at.explanationOf(path, 'first')))).toEqual([
      ...['tool 1:1.0', 'tool 1:1.0', 'tool 1:1.0'],
      ...[null, null],
    ]);
    expect(await at.explanationOf('/bin/tool', 'third')).toBeNull();
    expect(await at.explanationOf('/usr/share/doc/other/empty', '')).toBeNull();
    const observed = { sha256: hexSha256('second'), mode: 0o755, uid: 0, gid: 0 };
    const files = ['/usr/bin/tool', '/usr/bin/sudo'].map((path) => ({ path, observed, expected: null }));
    const found = {
      name: 'tool',
      version: '2.0',
      architecture: 'amd64',
      archive: 'Test test main',
      signed_by: signedBy.join(),
    };
    expect(await explainingPackages(at.database, files)).toEqual([found, null]);
    expect(await archivesBefore(at.database, { limit: 5 })).toMatchObject([
      { archive: 'Test test', packages: 2, opened: 2, files: 6 },
    ]);
  });

  test('each import is an entry with digests, and one that brings nothing new is none', async () => {
    archive.publish(key);
    await at.import(archive.root);
    const entries = await at.entries();
    const index = { index: 'main/binary-amd64/Packages', index_sha256: hexSha256(archive.index), listed: 2, added: 2 };
    expect(entries).toMatchObject([
      {
        actor: 'command:packages import',
        action: 'index.imported',
        resource_id: hexSha256(readFileSync(archive.inRelease)),
        metadata: index,
      },
      {
        action: 'packages.imported',
        metadata: {
          packages: [{ version: '1:1.0', sha256: hexSha256(readFileSync(first)), files: 3 }, { version: '2.0' }],
        },
      },
    ]);
    const [{ sha256 } = { sha256: '' }] = (await query(
      "SELECT sha256 FROM known_files WHERE path = '/usr/bin/hard' ORDER BY package_no",
    )) as { sha256: string }[];
    const lines = [
      `${sha256} 755 0 0 /usr/bin/hard`,
      `${sha256} 755 0 0 /usr/bin/tool`,
      `${hexSha256('')} 644 0 0 /usr/share/doc/tool/empty`,
    ];
    expect(entries[1]?.metadata).toMatchObject({
      packages: [{ files_sha256: hexSha256(lines.map((line) => `${line}\n`).join('')) }, {}],
    });
    const again = await at.import(archive.root);
    expect(again).toMatchObject({ ...NOTHING, known: 2 });
    expect(again.archives).toMatchObject([{ packages: 0, indexes: { read: 0, known: 1, missing: 0 } }]);
    expect(await at.entries()).toEqual(entries);
  });

  test('a version that the archive drops stays known', async () => {
    archive.publish(key);
    await at.import(archive.root);
    const next = new DebianArchive();
    try {
      await next.add({ version: '3.0', entries: toolOf('third') });
      next.publish(key);
      expect(await at.import(next.root)).toMatchObject({ opened: 1 });
    } finally {
      next.remove();
    }
    expect(await Promise.all(['first', 'third'].map((content) => at.explanationOf('/bin/tool', content)))).toEqual([
      'tool 1:1.0',
      'tool 3.0',
    ]);
  });

  test.each([
    [
      'changed',
      "UPDATE known_files SET sha256 = '{0}' WHERE path = '/usr/bin/hard'",
      /^tool .* differ from those that were imported$/,
    ],
    [
      'added',
      "INSERT INTO known_files SELECT '{0}', '/usr/bin/sudo', package_no, 493, 0, 0 FROM signed_packages",
      /differ from those/,
    ],
    ['moved', "UPDATE known_files SET path = '/usr/bin/sudo' WHERE path = '/usr/bin/tool'", /differ from those/],
    [
      'of a package that was never imported',
      "UPDATE signed_packages SET sha256 = '{0}' WHERE version = '2.0'",
      /no entry records/,
    ],
    ['gone', 'DELETE FROM known_files', /differ from those/],
  ])('a known file that is %s is found', async (_words, statement, why) => {
    archive.publish(key);
    await at.import(archive.root);
    expect(await verifyPackages(at.database, at.log)).toEqual({ packages: 2, findings: [] });
    await query(statement.replace('{0}', '0'.repeat(64)));
    expect((await verifyPackages(at.database, at.log)).findings[0]).toMatch(why);
  });

  test('two imports at once make each package known once', async () => {
    archive.publish(key);
    const outcomes = await Promise.all([at.import(archive.root), at.import(archive.root)]);
    expect(outcomes.map(({ opened }) => opened).sort()).toEqual([0, 2]);
    expect(await query('SELECT count(*) AS n FROM known_files')).toMatchObject([
      { n: expect.toSatisfy((n) => Number(n) === 6) },
    ]);
  });
});

describe('what is read', () => {
  let databases: DatabasePlace;
  let at: PackagePlace;
  beforeAll(async () => {
    databases = await startSqlitePlace();
  });
  afterAll(() => databases.close());
  beforeEach(async () => {
    const { database } = await databases.createMigrated();
    at = new PackagePlace(database, key.keyring);
  });

  test.each<IndexForm>(['', '.gz', '.xz', '.zst'])('a list of packages as Packages%s', async (form) => {
    archive.publish(key, { form });
    expect(await at.import(archive.root)).toMatchObject({ opened: 2, refused: [] });
  });

  test("apt's own folders, with what it has not finished left alone", async () => {
    archive.publish(key);
    const [lists, cache] = [join(archive.root, 'lists'), join(archive.root, 'archives')];
    for (const folder of [lists, cache]) mkdirSync(join(folder, 'partial'), { recursive: true });
    const prefix = join(lists, 'deb.example.org_debian_dists_test_');
    renameSync(archive.inRelease, `${prefix}InRelease`);
    renameSync(archive.indexFile(), `${prefix}main_binary-amd64_Packages`);
    copyFileSync(first, join(cache, 'tool_1%3a1.0_amd64.deb'));
    writeFileSync(join(cache, 'partial/tool_2.0_amd64.deb'), 'half');
    expect(await at.import(cache, lists)).toMatchObject({ ...NOTHING, opened: 1, files: 3 });
  });

  test('a package that comes after its list, and one that is named', async () => {
    archive.publish(key);
    await at.import(archive.suite);
    expect(await at.import(first)).toMatchObject({ ...NOTHING, opened: 1, files: 3, archives: [] });
  });

  /** Faults in an archive signed with a good key, or in files beside it. */
  const FAULTS: readonly (readonly [words: string, why: RegExp, make: () => void | Promise<void>])[] = [
    [
      'a list with another byte',
      /has the SHA-256 [0-9a-f]{64}, but/,
      () => writeFileSync(archive.indexFile(), archive.index.toString().replace('amd64', 'arm64')),
    ],
    ['a list that goes on', /has more than the \d+ bytes/, () => appendFileSync(archive.indexFile(), '\n')],
    ['a list that is cut off', /has 100 bytes, but \d+ were signed/, () => truncateSync(archive.indexFile(), 100)],
    ['a list that unpacks to 64 megabytes', /has more than the \d+ bytes/, () => bombIn('.gz')],
    ['a list that is no archive', /cannot be unpacked/, () => replaceIndex('.xz', Buffer.from('no xz'))],
    [
      'a list without digests',
      /without a name, version, size or SHA-256/,
      () => archive.publish(key, { index: Buffer.from('Package: tool\nVersion: 1\nArchitecture: amd64\nSize: 1\n') }),
    ],
    [
      'a paragraph without an end',
      /a paragraph of more than/,
      () => archive.publish(key, { index: Buffer.alloc(2 ** 21, 'x') }),
    ],
    ['a release without digests', /lists no SHA-256 digests/, () => sign('Origin: Test\n')],
    [
      'a release with a path that leads out',
      /leads out of its folder/,
      () => sign(archive.release(archive.index, [` ${'0'.repeat(64)} 1 ../../Packages`])),
    ],
    [
      'a release that says two things',
      /with two digests/,
      () => sign(archive.release(archive.index, [` ${'0'.repeat(64)} 1 main/binary-amd64/Packages`])),
    ],
    [
      'a release with a field twice',
      /the field SHA256 twice/,
      () => sign(`${archive.release(archive.index)}SHA256:\n`),
    ],
    ['a release with a line that is none', /not a field/, () => sign(`${archive.release(archive.index)}nothing\n`)],
  ];

  test.each(FAULTS)('%s is refused, and nothing of it is known', async (_words, why, make) => {
    archive.publish(key);
    await make();
    const { refused, opened, archives } = await at.import(archive.suite);
    expect(refused).toMatchObject([{ reason: expect.stringMatching(why) }]);
    expect({ opened, packages: archives.reduce((sum, each) => sum + each.packages, 0) }).toEqual({
      opened: 0,
      packages: 0,
    });
    expect(await at.entries()).toEqual([]);
  });

  function sign(release: string): void {
    writeFileSync(archive.inRelease, key.sign(release));
  }

  function replaceIndex(form: IndexForm, bytes: Buffer): void {
    renameSync(archive.indexFile(), archive.indexFile(form));
    writeFileSync(archive.indexFile(form), bytes);
  }

  function bombIn(form: IndexForm): void {
    replaceIndex(form, gzipSync(Buffer.alloc(2 ** 26)));
  }

  test('a package that is not the one that was signed is refused by its name, and another is only left out', async () => {
    archive.publish(key);
    await at.import(archive.suite);
    const altered = readFileSync(first);
    altered[altered.length - 1] = (altered.at(-1) ?? 0) ^ 1;
    const folder = join(archive.root, 'cache');
    mkdirSync(folder);
    writeFileSync(join(folder, 'tool_1%3a1.0_amd64.deb'), altered);
    writeFileSync(join(folder, 'other_1.0_amd64.deb'), altered);
    const outcome = await at.import(folder);
    expect(outcome.unlisted).toEqual([join(folder, 'other_1.0_amd64.deb')]);
    expect(outcome.refused).toMatchObject([
      { reason: expect.stringMatching(/^is not the signed tool 1:1.0: it has the SHA-256/) },
    ]);
    const named = await at.import(join(folder, 'other_1.0_amd64.deb'));
    expect(named.refused).toMatchObject([{ reason: expect.stringMatching(/which no imported index lists/) }]);
    expect(await at.explanationOf('/bin/tool', 'first')).toBeNull();
  });
});
