import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrateAll } from '../../src/platform/migrations.ts';
import { type DatabasePlace, startSqlitePlace } from '../platform/database/databases.ts';
import { EndpointPlace, type Reporter } from '../platform/endpoints/endpoint-place.ts';
import { AptRoot } from '../platform/endpoints/packages/apt-root.ts';
import { linesIn } from '../platform/endpoints/packages/installed.ts';
import { PackagePlace } from '../platform/endpoints/packages/package-place.ts';

// Downloads from Debian's own archive.
const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';
const SOURCES = [
  'http://deb.debian.org/debian bookworm main',
  'http://deb.debian.org/debian-security bookworm-security main',
].map((source) => `deb [signed-by=${KEYRING}] ${source}`);

/** A program with few dependencies, of which both archives have a version. */
const NAME = 'xdg-dbus-proxy';
const NEEDS = ['libc6', 'libglib2.0-0'];
const SIGNED_BY = /^Debian (Security )?Archive Automatic Signing Key .*<ftpmaster@debian\.org> [0-9A-F]{40}/;

let databases: DatabasePlace;
let apt: AptRoot;
let packages: PackagePlace;
let host: Reporter;
beforeAll(async () => {
  databases = await startSqlitePlace();
  const { database } = await databases.create();
  await migrateAll(database);
  packages = new PackagePlace(database, KEYRING);
  host = await new EndpointPlace(database).enrolled();
  apt = new AptRoot(NEEDS);
  apt.update(SOURCES);
});
afterAll(async () => {
  apt.remove();
  await databases.close();
});

/** Returns the versions, older first. */
function versions(): string[] {
  const { said } = apt.query('madison', NAME);
  return [...said.matchAll(/\| +(\S+) +\|/g)].map(([, version = '']) => version).reverse();
}

test('a real package, upgraded and downgraded, is explained by who signs the archive; changed, it is an alarm', async () => {
  const [older = '', newer = ''] = versions();
  expect(older).not.toBe(newer);
  apt.install(`${NAME}=${older}`);
  await host.baseline(linesIn(apt.root));
  apt.install(`${NAME}=${newer}`);
  const { refused, archives, opened } = await packages.import(apt.lists, apt.archives);
  expect({ refused, opened }).toEqual({ refused: [], opened: 2 });
  expect(archives.reduce((sum, each) => sum + each.packages, 0)).toBeGreaterThan(60_000);
  const scanned = async () => {
    await host.reports(linesIn(apt.root));
    return host.open();
  };
  const explained = (version: string) => [
    {
      event_type: 'binary_modified',
      path: `/usr/bin/${NAME}`,
      severity: 'low',
      explanation: { kind: 'signed_package', name: NAME, version, signed_by: expect.stringMatching(SIGNED_BY) },
    },
  ];
  expect(await scanned()).toMatchObject(explained(newer));
  await host.approved();
  apt.install(`${NAME}=${older}`);
  expect(await scanned()).toMatchObject(explained(older));
  const program = join(apt.root, 'usr/bin', NAME);
  const bytes = readFileSync(program);
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
  writeFileSync(program, bytes);
  expect(await scanned()).toMatchObject([{ severity: 'high', explanation: { kind: 'none' } }]);
}, 300_000);

test('with one byte changed, no InRelease of Debian is believed', async () => {
  const path = join(apt.lists, 'deb.debian.org_debian-security_dists_bookworm-security_InRelease');
  const good = readFileSync(path);
  const places = Array.from({ length: 200 }, (_, n) => Math.floor((n * good.length) / 200));
  const taken: number[] = [];
  for (const place of places) {
    const altered = Buffer.from(good);
    altered[place] = (altered[place] ?? 0) ^ 1;
    writeFileSync(path, altered);
    const { refused } = await packages.import(apt.lists);
    if (refused.length !== 1) taken.push(place);
  }
  writeFileSync(path, good);
  expect(taken).toEqual([]);
}, 300_000);
