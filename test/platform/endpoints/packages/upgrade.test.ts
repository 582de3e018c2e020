import { chmodSync, copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type DatabasePlace, startSqlitePlace } from '../../database/databases.ts';
import { EndpointPlace, type Reporter } from '../endpoint-place.ts';
import { AptRoot } from './apt-root.ts';
import { hexMd5 } from './deb-files.ts';
import { DebianArchive } from './debian-archive.ts';
import { linesIn } from './installed.ts';
import { PackagePlace } from './package-place.ts';
import { SigningKey } from './signing-key.ts';

let key: SigningKey;
let archive: DebianArchive;
let databases: DatabasePlace;
beforeAll(async () => {
  key = new SigningKey();
  archive = new DebianArchive();
  for (const version of ['1.0', '2.0']) {
    const content = `#!/bin/sh\necho ${version}\n`;
    await archive.add({ version, entries: [{ name: './usr/bin/tool', mode: 0o755, content }] });
  }
  archive.publish(key);
  databases = await startSqlitePlace();
});
afterAll(async () => {
  await databases.close();
  for (const made of [key, archive]) made.remove();
});

let apt: AptRoot;
let host: Reporter;
let packages: PackagePlace;
beforeEach(async () => {
  const { database } = await databases.createMigrated();
  packages = new PackagePlace(database, key.keyring);
  host = await new EndpointPlace(database).enrolled();
  apt = new AptRoot();
  apt.update([`deb [signed-by=${key.keyring}] file:${archive.root} test main`]);
  apt.install('tool=1.0');
  await host.baseline(linesIn(apt.root));
});
afterEach(() => apt.remove());

/** Scans, and returns unresolved events. */
async function scanned() {
  await host.reports(linesIn(apt.root));
  return host.open();
}

function signed(version: string) {
  const by = { archive: 'Test test main', signed_by: `Test Archive ${key.fingerprint}` };
  return { kind: 'signed_package', name: 'tool', version, ...by };
}

const tool = () => join(apt.root, 'usr/bin/tool');

test('an upgrade and a downgrade through apt are explained by who signed the archive, and raise no alarm', async () => {
  await packages.import(archive.root);
  apt.install('tool=2.0');
  expect(await scanned()).toMatchObject([
    { event_type: 'binary_modified', path: '/usr/bin/tool', severity: 'low', explanation: signed('2.0') },
  ]);
  await host.approved();
  apt.install('tool=1.0');
  expect(await scanned()).toMatchObject([{ path: '/usr/bin/tool', severity: 'low', explanation: signed('1.0') }]);
  apt.install('tool=2.0');
  expect(await scanned()).toEqual([]);
});

test('an upgrade whose packages are imported later is explained from then on, and an entry says so', async () => {
  apt.install('tool=2.0');
  expect(await scanned()).toMatchObject([{ severity: 'high', explanation: { kind: 'none' } }]);
  await packages.import(archive.root);
  expect(await host.at.service.events.explainAgain()).toBe(1);
  expect(await host.open()).toMatchObject([{ severity: 'low', explanation: signed('2.0') }]);
  expect((await host.at.entries(host.id)).at(-1)).toMatchObject({ action: 'events.explained' });
  expect(await host.at.service.events.explainAgain()).toBe(0);
});

test('a program that was changed stays an alarm, though its package says that it is as it should be', async () => {
  await packages.import(archive.root);
  const changed = '#!/bin/sh\necho changed\n';
  writeFileSync(tool(), changed);
  expect(apt.verified()).toContain('/usr/bin/tool');
  writeFileSync(join(apt.root, 'var/lib/dpkg/info/tool.md5sums'), `${hexMd5(changed)}  usr/bin/tool\n`);
  expect(apt.verified()).toBe('');
  expect(await scanned()).toMatchObject([
    { event_type: 'binary_modified', severity: 'high', explanation: { kind: 'none' } },
  ]);
});

test.each([
  ['in the place of sudo', 'critical', () => copyFileSync(tool(), join(apt.root, 'usr/bin/sudo'))],
  ['under another name', 'high', () => copyFileSync(tool(), join(apt.root, 'usr/bin/other'))],
  ['that has become setuid', 'critical', () => chmodSync(tool(), 0o4755)],
  ['upgraded, and setuid besides', 'critical', upgradeWithSetId],
])('a signed program %s is an alarm', async (_words, severity, change) => {
  await packages.import(archive.root);
  change();
  expect(await scanned()).toMatchObject([{ severity, explanation: { kind: 'none' } }]);
});

function upgradeWithSetId(): void {
  apt.install('tool=2.0');
  chmodSync(tool(), 0o4755);
}

test('an InRelease with another byte makes nothing known', async () => {
  const good = readFileSync(archive.inRelease);
  const altered = Buffer.from(good);
  const place = altered.indexOf('Codename') + 1;
  altered[place] = (altered[place] ?? 0) ^ 1;
  writeFileSync(archive.inRelease, altered);
  const { refused } = await packages.import(archive.root);
  writeFileSync(archive.inRelease, good);
  expect(refused).toMatchObject([{ reason: expect.stringMatching(/does not match the text/) }]);
  apt.install('tool=2.0');
  expect(await scanned()).toMatchObject([{ severity: 'high', explanation: { kind: 'none' } }]);
});
