import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Reply, Result } from '../../../src/exporter/browser/messages.ts';
import { CLAIMS } from '../../../src/verifier/claims/claim.ts';
import { verifyBundle } from '../../../src/verifier/verify/bundle.ts';
import { reportAlone } from '../../../src/verifier/verify/file-report.ts';
import { ReportBrowser } from '../../support/browser.ts';
import { chainOf, packageOf } from '../../support/chain.ts';
import { ALL_DIALECTS, chainIn, type Dialect, packageIn } from '../../support/dialects.ts';
import { writePackageBundle } from '../../support/package-bundle.ts';
import { monthStream, verifiedRun } from '../../support/run-records.ts';
import { someRows } from '../../support/some-rows.ts';
import { type ForeignEntry, foreignBag, writeForeignZip } from '../../verifier/bundle/sample.ts';

/** Comparison of the page's verifier with `evidence verify` without keys and roots: both must find the same. */

const NOW = new Date('2026-11-21T00:00:00Z');

/** One worker of the page's program reads all files, one after another. */
const START = `
  document.body.insertAdjacentHTML('beforeend', '<input type="file" id="cases" multiple>');
  globalThis.verifier = new Worker(URL.createObjectURL(new Blob([document.querySelector('#verifier').textContent])));
`;
const VERIFY = `(async () => {
  const replies = [];
  for (const file of document.querySelector('#cases').files)
    replies.push(await new Promise((resolve) => {
      verifier.onmessage = ({ data }) => data.kind === 'progress' || resolve(data);
      verifier.postMessage({ file, now: ${NOW.getTime()} });
    }));
  return replies;
})()`;

let browser: ReportBrowser;
let page: Page;

beforeAll(async () => {
  browser = await ReportBrowser.launch();
  page = await browser.open(verifiedRun([monthStream(1)]));
  await page.evaluate(START);
});
afterAll(async () => {
  expect(browser.complaints).toEqual([]);
  await browser.close();
});

const inFolder = (name: string) => join(browser.folder, name);

async function verifyHere(files: readonly string[]): Promise<Result[]> {
  await page.setInputFiles('#cases', [...files]);
  const replies = (await page.evaluate(VERIFY)) as Reply[];
  return replies.map((reply) => {
    if (reply.kind !== 'result') throw new Error(`the verifier failed: ${JSON.stringify(reply)}`);
    return reply.result;
  });
}

/** A proved claim includes its basis. */
const stateOf = (name: string, state: string | undefined, basis: string | undefined) =>
  state === 'proved' ? `${name} proved: ${basis}` : `${name} ${state}`;

/** Summary in words that both verifiers share. */
const summaryOf = (ofBundle: readonly { code: string }[], states: object, findings: object) => ({
  bundleFindings: ofBundle.map(({ code }) => code),
  states,
  findings,
});

async function verifyThere(file: string) {
  const options = { contract: null, sealKeys: new Map(), roots: null, now: NOW };
  const verified = await verifyBundle(file, basename(file), options);
  const { findings } = verified;
  const verdict = reportAlone(verified);
  const states = CLAIMS.map((name) => stateOf(name, verdict?.claims[name].state, verdict?.claims[name].basis));
  return summaryOf(findings, verdict === null ? [] : [verdict.status, ...states], verdict?.findings ?? []);
}

function summaryHere({ bundleFindings, status, claims, findings }: Result) {
  const states = claims.map(({ name, state, why }) => stateOf(name, state, why));
  return summaryOf(bundleFindings, status === null ? [] : [status, ...states], findings);
}

async function expectSame(files: readonly string[]): Promise<Result[]> {
  const here = await verifyHere(files);
  expect(here).toHaveLength(files.length);
  for (const [index, file] of files.entries())
    expect(summaryHere(here[index] as Result), file).toEqual(await verifyThere(file));
  return here;
}

test('every vector of a chain', async () => {
  const folder = join(import.meta.dirname, '../../vectors/chain');
  const names = readdirSync(folder).filter((name) => name !== 'expected.json');
  const files = await Promise.all(
    names.map(async (name) => {
      const target = inFolder(`${name}.zip`);
      await writePackageBundle({ target, evidence: readFileSync(join(folder, name)) });
      return target;
    }),
  );
  const results = await expectSame(files);
  const statuses = new Set(results.map(({ status }) => status));
  expect(statuses).toEqual(new Set(['verified', 'refuted', 'incomplete', 'empty']));
});

/**
 * Dialects with the same computation: one of each is tested. They differ only in names, which both verifiers read with
 * the same code.
 */
const COMPUTED_ALIKE = ({ description: { digest } }: Dialect) =>
  JSON.stringify([digest.recipe?.algorithm, digest.encoding, digest.recipe?.preimage.map((part) => Object.keys(part))]);

test('every dialect, by the contract in the bundle: its encodings, algorithms and forms', async () => {
  const files = await Promise.all(
    someRows(ALL_DIALECTS, COMPUTED_ALIKE).map(async (dialect, index) => {
      const entries = chainIn(dialect, 12, (below) => (index + 1) % below);
      const target = inFolder(`dialect-${index}.zip`);
      await writePackageBundle({
        target,
        evidence: packageIn(dialect, entries),
        description: dialect.description,
      });
      return target;
    }),
  );
  const results = await expectSame(files);
  const recomputed = results.filter(({ claims }) => claims[1]?.state === 'proved');
  expect(recomputed.length).toBeGreaterThanOrEqual(files.length / 2);
});

test('a bundle that states another verdict than its entries give', async () => {
  const target = inFolder('restated.zip');
  const evidence = Buffer.from(JSON.stringify(packageOf(chainOf(5))));
  await writePackageBundle({ target, evidence, restate: (verdict) => ({ ...verdict, entries: 6 }) });
  const [result] = await expectSame([target]);
  expect(result?.bundleFindings.map(({ code }) => code)).toEqual(['verdict/differs']);
});

describe('a zip that is not what it seems', () => {
  const EVIDENCE = { 'data/evidence.json': '{}' };
  const zip = (name: string, entries: readonly ForeignEntry[], comment = '') => {
    writeForeignZip(inFolder(name), entries, comment);
    return inFolder(name);
  };
  const renamed = (name: string) =>
    foreignBag(EVIDENCE).map((entry, index) => (index === 0 ? { ...entry, name } : entry));

  test('by its names, links, methods, comments and sizes', async () => {
    await expectSame([
      zip('sound.zip', foreignBag(EVIDENCE)),
      zip(
        'stored.zip',
        foreignBag(EVIDENCE).map((entry) => ({ ...entry, method: 'stored' })),
      ),
      zip(
        'zip64.zip',
        foreignBag(EVIDENCE).map((entry) => ({ ...entry, zip64: true })),
      ),
      zip('scripts.zip', foreignBag({ 'data/päyment-日本.json': '{}' })),
      zip('slip.zip', renamed('bag/../../etc/passwd')),
      zip('absolute.zip', renamed('/etc/passwd')),
      zip('backslash.zip', renamed('bag\\..\\x')),
      zip('twice.zip', [...foreignBag(EVIDENCE), { name: 'bag/data/evidence.json', content: 'x' }]),
      zip('case.zip', [...foreignBag(EVIDENCE), { name: 'bag/data/EVIDENCE.json', content: 'x' }]),
      zip('link.zip', [...foreignBag(EVIDENCE), { name: 'bag/l', content: '/etc/passwd', mode: 0o120777 }]),
      zip('bzip2.zip', [...foreignBag(EVIDENCE), { name: 'bag/b', content: 'x', method: 'bzip2' }]),
      zip('added.zip', [...foreignBag(EVIDENCE), { name: 'bag/data/more.json', content: 'x' }]),
      zip('comment.zip', foreignBag(EVIDENCE), 'a comment'),
      zip('empty.zip', []),
    ]);
  });

  test('by any byte that is flipped, and cut anywhere', async () => {
    const target = inFolder('whole.zip');
    await writePackageBundle({ target, evidence: Buffer.from(JSON.stringify(packageOf(chainOf(3)))) });
    const bytes = readFileSync(target);
    const files: string[] = [];
    const save = (name: string, content: Uint8Array) => {
      writeFileSync(inFolder(name), content);
      files.push(inFolder(name));
    };
    // The step shares no factor with the sizes of headers, so that it reaches every field.
    const places = Array.from({ length: Math.ceil(bytes.length / 37) }, (_, index) => index * 37);
    for (const at of someRows(places, (place) => Math.floor(place / (9 * 37)))) {
      const flipped = Buffer.from(bytes);
      flipped[at] = (flipped[at] ?? 0) ^ (1 << (at % 8));
      save(`flipped-${at}.zip`, flipped);
    }
    const lengths = Array.from({ length: Math.ceil(bytes.length / 509) }, (_, index) => index * 509);
    for (const length of someRows(lengths, (one) => Math.floor(one / (3 * 509))))
      save(`cut-${length}.zip`, bytes.subarray(0, length));
    save('appended.zip', Buffer.concat([bytes, Buffer.from('x')]));
    save('twofold.zip', Buffer.concat([bytes, bytes]));
    const here = await verifyHere(files);
    for (const [index, file] of files.entries()) {
      const there = await verifyThere(file);
      // The verifiers name the rest of broken compressed data differently.
      const findings = (codes: readonly string[]) => codes.map((code) => (/hidden|unreadable/.test(code) ? '-' : code));
      const codes = (here[index]?.bundleFindings ?? []).map(({ code }) => code);
      expect(findings(codes), file).toEqual(findings(there.bundleFindings));
    }
  });
});
