import { once } from 'node:events';
import { copyFileSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { archivePackage, RUN } from '../support/archived-package.ts';
import { chainOf, packageOf } from '../support/chain.ts';
import { useChromium } from '../support/chromium.ts';
import { fencedIn, readDocument } from '../support/documents.ts';
import { installInto } from '../support/installed.ts';
import { writePackageBundle } from '../support/package-bundle.ts';
import { nodeToEnd, run } from '../support/process.ts';
import { newKey } from '../support/signed-archive.ts';

const root = resolve(import.meta.dirname, '../..');
const vectors = join(root, 'test/vectors');
let folder: string;
let installed: string;

/** Installs the package, and adds the files that the examples verify. */
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'library-'));
  installed = await installInto(folder);
  const evidence = Buffer.from(JSON.stringify(packageOf(chainOf(50))));
  await writePackageBundle({ target: join(folder, 'payments.zip'), evidence });
  copyFileSync(join(vectors, 'chain/valid.json'), join(folder, 'payments.json'));
  copyFileSync(join(vectors, 'anchor/root-rsa.pem'), join(folder, 'roots.pem'));
  const { seal_keys: keys } = JSON.parse(readFileSync(join(vectors, 'chain/expected.json'), 'utf8'));
  writeFileSync(join(folder, 'k1.key'), keys.k1);
  const key = newKey();
  await archivePackage(join(folder, 'evidence-archive'), { bundle: { evidence }, key });
  writeFileSync(join(folder, 'signing.pem.pub'), key.key.export({ type: 'spki', format: 'pem' }));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Example {
  from: string;
  code: string;
}

const topic = fencedIn(readDocument('templates/help/library.md'))
  .filter(({ language }) => language === 'js')
  .map(({ index, text }): Example => ({ from: `library.md ${index}`, code: text }));

/** Examples in the documentation of the functions, as an editor shows them. */
const documented = readdirSync(join(root, 'src/library')).flatMap((file) => {
  const text = readFileSync(join(root, 'src/library', file), 'utf8');
  return [...text.matchAll(/^ \* ```js\n(.*?)^ \* ```$/gms)].map(
    ([, code = '']): Example => ({ from: file, code: code.replaceAll(/^ \* ?/gm, '') }),
  );
});

const isOfBrowsers = ({ code }: Example) => code.includes('evidence-exporter/browser');
const examples = [...topic, ...documented];

const PRINTED: Record<string, string> = {
  'library.md 0': 'verified\npayments/prod proved\n',
  'library.md 1': 'verified proved unproved\n',
  'library.md 2': `${RUN} verified 0\nproved\n`,
  'library.md 3': 'not-found\n',
  'archive.ts': `${RUN} verified\n`,
  'bundle.ts': '',
  'package.ts': 'payments incomplete []\n',
};

test('every example is tried', () => {
  expect(examples.filter((one) => !isOfBrowsers(one)).map(({ from }) => from)).toEqual(Object.keys(PRINTED));
  expect(examples.filter(isOfBrowsers).map(({ from }) => from)).toEqual(['library.md 4', 'in-browser.ts']);
});

test.each(examples.filter((one) => !isOfBrowsers(one)))('the example of $from runs', async ({ from, code }) => {
  const file = join(folder, `${from.replace(/\W/g, '-')}.mjs`);
  writeFileSync(file, code.replace("'2026-10'", `'${RUN}'`));
  const { stdout, stderr } = await nodeToEnd(file, [], { cwd: folder });
  expect({ stdout, stderr }).toEqual({ stdout: PRINTED[from], stderr: '' });
});

test('a program with types finds them, and no others', async () => {
  const file = join(folder, 'typed.mts');
  writeFileSync(
    file,
    `import { type ArchiveReport, type FileReport, verifyArchive, verifyBundle, verifyPackage } from 'evidence-exporter';
import { verifyBundle as verifyInBrowser } from 'evidence-exporter/browser';
export const all: Promise<[FileReport, FileReport, FileReport, ArchiveReport]> = Promise.all([
  verifyBundle(new Uint8Array(), { now: new Date(), required: ['seal'] }),
  verifyPackage(new URL('file:///a'), { now: new Date(), timestampRoots: '' }, { threads: 1 }),
  verifyInBrowser(new Blob(), { now: new Date(), sealKeys: { k1: new Uint8Array() } }),
  verifyArchive('', { now: new Date(), publicKeys: [''] }, { fast: true }),
]);
// @ts-expect-error: time is an argument.
void verifyBundle('', {});
// @ts-expect-error: there are no such claims.
void verifyBundle('', { now: new Date(), required: ['sealed'] });
// @ts-expect-error: no roots in a browser.
void verifyInBrowser(new Blob(), { now: new Date(), timestampRoots: '' });
const state: 'proved' | 'refuted' | 'unproved' | 'recorded' | undefined = (await all)[0].streams[0]?.claims.seal.state;
void state;
`,
  );
  const types = ['--types', 'node', '--typeRoots', join(root, 'node_modules/@types')];
  const strict = ['--strict', '--exactOptionalPropertyTypes', '--target', 'es2024', '--module', 'nodenext', '--noEmit'];
  await run(
    join(root, 'node_modules/.bin/tsc'),
    [...strict, '--lib', 'es2024,dom,esnext.disposable', ...types, file],
    folder,
  );
});

test('the example for browsers runs in Chromium', async () => {
  const [example] = topic.filter(isOfBrowsers);
  const module = readFileSync(join(installed, 'dist/index.browser.js'));
  const page = `<!doctype html><input type="file"><output></output>
<script type="importmap">{"imports":{"evidence-exporter/browser":"/index.browser.js"}}</script>`;
  const server = createServer(({ url }, response) => {
    response.setHeader('content-type', url === '/' ? 'text/html' : 'text/javascript');
    response.end(url === '/' ? page : module);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  let tab: Page | undefined;
  try {
    tab = await (await useChromium()).newPage();
    await tab.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    await tab.setInputFiles('input', join(folder, 'payments.zip'));
    await tab.addScriptTag({ type: 'module', content: example?.code ?? '' });
    await expect.poll(() => tab?.textContent('output')).toBe('payments/prod: verified');
  } finally {
    await tab?.close();
    server.close();
  }
});

test('bytes, a Blob and a file are verified alike, here and as in a browser', async () => {
  const program = join(folder, 'alike.mjs');
  writeFileSync(
    program,
    `import { readFileSync } from 'node:fs';
import * as node from 'evidence-exporter';
import * as browser from 'evidence-exporter/browser';
const trust = { now: new Date(0), sealKeys: { k1: readFileSync('k1.key') } };
const plain = (report) => JSON.stringify(report).replaceAll(/payments\\.zip|the bundle/g, 'it');
for (const [verify, file] of [['verifyBundle', 'payments.zip'], ['verifyPackage', 'payments.json']]) {
  const bytes = new Uint8Array(readFileSync(file));
  const expected = plain(await node[verify](file, trust));
  for (const content of [bytes, new Blob([bytes])]) console.log(plain(await node[verify](content, trust)) === expected);
  const states = ({ outcome, streams: [{ claims }] }) => [outcome, claims.content.state, claims.seal.state].join();
  console.log(states(await browser[verify](bytes, trust)) === states(JSON.parse(expected)));
}
`,
  );
  const { stdout, stderr } = await nodeToEnd(program, [], { cwd: folder });
  expect({ stdout, stderr }).toEqual({ stdout: 'true\n'.repeat(6), stderr: '' });
});

test('an archive that is kept elsewhere is read by what its owner gives', async () => {
  cpSync(join(folder, 'evidence-archive'), join(folder, 'elsewhere'), { recursive: true });
  const program = join(folder, 'elsewhere.mjs');
  writeFileSync(
    program,
    `import { createReadStream, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { verifyArchive } from 'evidence-exporter';
const at = (key) => join('elsewhere', key);
const keys = readdirSync('elsewhere', { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map(({ parentPath, name }) => join(parentPath, name).slice('elsewhere/'.length))
  .sort();
const archive = {
  url: 'memory:',
  locks: null,
  read: async (key) => createReadStream(at(key)),
  readBytes: async (key) => readFileSync(at(key)),
  stat: async (key) => (keys.includes(key) ? { bytes: statSync(at(key)).size } : null),
  async *list(prefix) {
    for (const key of keys) if (key.startsWith(prefix)) yield { key, bytes: statSync(at(key)).size };
  },
  fetchFile: async (key) => at(key),
};
const { outcome, objects } = await verifyArchive(archive, { now: new Date() });
console.log(outcome, objects.checked === keys.length);
`,
  );
  const { stdout, stderr } = await nodeToEnd(program, [], { cwd: folder });
  expect({ stdout, stderr }).toEqual({ stdout: 'verified true\n', stderr: '' });
});

const FAILING = [
  ['verifyBundle', "'none.zip'", 'not-found'],
  ['verifyBundle', "new TextEncoder().encode('age-encryption.org/v1\\n')", 'unreadable'],
  ['verifyPackage', "'none.json'", 'not-found'],
  ['verifyPackage', "new TextEncoder().encode('{}')", 'unreadable'],
  ['verifyArchive', "'none'", 'not-found'],
  ['verifyArchive', "'node_modules'", 'not-found'],
  ['verifyArchive', "'evidence-archive', { now }, { run: 'none' }", 'not-found'],
  ['verifyPackage', "'payments.json', { now, contract: '?' }", 'config'],
  ['verifyPackage', "'payments.json', { now, timestampRoots: '?' }", 'config'],
  ['verifyArchive', "'evidence-archive', { now, publicKeys: ['?'] }", 'config'],
] as const;

test('what cannot be verified is an EvidenceError, whose code says why', async () => {
  const program = join(folder, 'fails.mjs');
  const calls = FAILING.map(([name, args]) => `${name}(${args.includes('now') ? args : `${args}, { now }`})`);
  writeFileSync(
    program,
    `import { EvidenceError, verifyArchive, verifyBundle, verifyPackage } from 'evidence-exporter';
const now = new Date();
for (const call of [${calls.map((call) => `() => ${call}`).join()}])
  await call().catch((error) => console.log(error instanceof EvidenceError, error.code));`,
  );
  const { stdout, stderr } = await nodeToEnd(program, [], { cwd: folder });
  const said = FAILING.map(([, , code]) => `true ${code}\n`).join('');
  expect({ stdout, stderr }).toEqual({ stdout: said, stderr: '' });
});
