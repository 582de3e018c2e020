import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { CLAIMS, type Claims, type StreamStatus } from '../../../src/verifier/claims/claim.ts';
import type { Verdict } from '../../../src/verifier/claims/verdict.ts';
import type { RunRecord } from '../../../src/verifier/records/record.ts';
import { ReportBrowser } from '../../support/browser.ts';
import { chainOf, packageOf, STREAM } from '../../support/chain.ts';
import { writePackageBundle } from '../../support/package-bundle.ts';
import { run } from '../../support/process.ts';
import { earlierRun, monthStream, partialRun, refutedRun, verifiedRun } from '../../support/run-records.ts';
import { inTurn, someRows } from '../../support/some-rows.ts';
import { foreignBag, writeForeignZip } from '../../verifier/bundle/sample.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const LONG = 'a-name-of-three-hundred-characters-'.repeat(9).slice(0, 300);
const NAMES = ['Prod/Zahlungen-Ä', '生产/支付系统', 'تدقيق/سجل-الدخول', '🔐 vault', LONG, 'w'.repeat(300)];

let browser: ReportBrowser;
/** Pages that the present test opened. */
const opened: Page[] = [];

beforeAll(async () => {
  browser = await ReportBrowser.launch();
});
afterEach(() => Promise.all(opened.splice(0).map((page) => page.context().close())));
afterAll(async () => {
  expect(browser.complaints).toEqual([]);
  await browser.close();
});

async function open(record: RunRecord, options?: BrowserContextOptions): Promise<Page> {
  const page = await browser.open(record, options);
  opened.push(page);
  return page;
}
const named = (names: readonly string[] = NAMES) =>
  verifiedRun(
    names.map((name, index) => monthStream(index, name, { entries: 10 * ((index * 4) % 7) })),
    { earlier_runs: [earlierRun('2026-08', 'refuted'), earlierRun('2026-09', 'incomplete')] },
  );
const rows = (page: Page) => page.locator('#table tbody tr:visible summary').allTextContents();

describe('the table of streams', () => {
  test('is searched, and says how many it shows', async () => {
    const page = await open(named());
    expect(await page.getAttribute('#count', 'aria-live')).toBe('polite');
    for (const [query, expected] of [
      ['zahlungen-a', [NAMES[0]]],
      ['支付', [NAMES[1]]],
      ['VAULT', [NAMES[3]]],
      ['0'.repeat(7), NAMES],
      ['nothing like it', []],
    ] as const) {
      await page.fill('#query', query);
      expect([query, await rows(page)]).toEqual([query, expected]);
      expect(await page.textContent('#count')).toBe(`${expected.length} of 6 streams`);
    }
  });

  test('is narrowed to what is not verified', async () => {
    const page = await open(partialRun());
    await page.selectOption('#shown', 'amiss');
    expect(await rows(page)).toEqual(['prod/half', 'prod/quiet']);
    const refuted = await open(refutedRun());
    await refuted.selectOption('#shown', 'refuted');
    expect(await rows(refuted)).toEqual(['prod/payments', 'prod/logins']);
  });

  test('is sorted by what a column holds, and says so', async () => {
    const page = await open(refutedRun());
    const sortBy = (name: string) => page.getByRole('columnheader', { name }).getByRole('button').click();
    await sortBy('content');
    expect(await rows(page)).toEqual(['prod/logins', 'prod/service-1', 'prod/payments']);
    await sortBy('Stream');
    await sortBy('Stream');
    expect(await rows(page)).toEqual(['prod/service-1', 'prod/payments', 'prod/logins']);
    const sorts = page.locator('#table thead th');
    expect(await sorts.evaluateAll((cells) => cells.map((cell) => cell.getAttribute('aria-sort')))).toEqual([
      'descending',
      ...Array(9).fill('none'),
    ]);
    const entries = await open(named());
    await entries.getByRole('columnheader', { name: 'Entries' }).getByRole('button').click();
    const shown = await entries.locator('#table tbody td.entries, #table tbody td.number').allTextContents();
    expect(shown.map(Number)).toEqual(shown.map(Number).toSorted((a, b) => a - b));
  });

  test('is there without scripts too', async () => {
    const page = await open(named(), { javaScriptEnabled: false });
    expect(await rows(page)).toEqual(NAMES);
    expect(await page.locator('noscript').isVisible()).toBe(true);
    expect(await page.locator('.tools, #drop').filter({ visible: true }).count()).toBe(0);
  });

  test.each(someRows([true, false], () => 'heads'))(
    'has heads that stand apart, scripts or not: %s',
    async (javaScriptEnabled) => {
      const page = await open(named(), { javaScriptEnabled });
      const boxes = await page.locator('#table thead th').evaluateAll((cells) =>
        cells.map((cell) => {
          const range = cell.ownerDocument.createRange();
          range.selectNodeContents(cell);
          const { left, right } = range.getBoundingClientRect();
          return { left, right };
        }),
      );
      expect(boxes).toHaveLength(CLAIMS.length + 3);
      for (const [index, { left }] of boxes.slice(1).entries())
        expect(left).toBeGreaterThanOrEqual(boxes[index]?.right ?? 0);
    },
  );

  test('printed, says on every page what its columns are', async () => {
    const page = await open(verifiedRun(Array.from({ length: 40 }, (_, index) => monthStream(index))));
    const printed = join(browser.folder, 'printed.pdf');
    await page.pdf({ path: printed, format: 'A4' });
    const pages = (await run('pdftotext', [printed, '-'], browser.folder)).split('\f');
    const withRows = pages.map((text) => text.split('\n')).filter((lines) => lines.includes('identity'));
    expect(withRows.length).toBeGreaterThan(3);
    for (const lines of withRows)
      expect(lines).toEqual(expect.arrayContaining(['Stream', 'Entries', ...CLAIMS, 'Status']));
  });
});

test('by keyboard alone: over the links to the report, into the search, to a sorting, into a row', async () => {
  const page = await open(named());
  const focused = () => page.evaluate('document.activeElement.id || document.activeElement.textContent');
  await page.keyboard.press('Tab');
  expect(await focused()).toBe('Skip to the report');
  await page.keyboard.press('Enter');
  expect(await focused()).toBe('main');
  const tabTo = async (wanted: string) => {
    for (let count = 0; count < 30 && (await focused()) !== wanted; count++) await page.keyboard.press('Tab');
    expect(await focused()).toBe(wanted);
  };
  await tabTo('query');
  await page.keyboard.type('vault');
  expect(await rows(page)).toEqual(['🔐 vault']);
  await tabTo('Entries');
  await page.keyboard.press('Enter');
  expect(await page.getAttribute('#table thead th:nth-child(2)', 'aria-sort')).toBe('ascending');
  await tabTo('🔐 vault');
  await page.keyboard.press('Enter');
  expect(await page.locator('details[open] pre').filter({ visible: true }).textContent()).toContain('SHA-256');
});

const REPORTS: [string, RunRecord][] = [
  ['verified', named()],
  ['refuted', refutedRun()],
  ['partial', partialRun()],
];
const COLOURED = inTurn(REPORTS, ['light', 'dark'] as const).map(([[what, record], colorScheme]) => ({
  what,
  record,
  colorScheme,
}));

test.each(someRows(COLOURED, ({ what }) => what))(
  'axe-core finds nothing serious in a $colorScheme report that is $what, with a bundle verified',
  async (report) => {
    const page = await open(report.record, { colorScheme: report.colorScheme });
    await verify(page, await sample('axe.zip'), await broken('axe-cut.zip'));
    await page.evaluate(AXE);
    const { violations } = (await page.evaluate('axe.run(document)')) as {
      violations: { id: string; impact: string; nodes: { html: string }[] }[];
    };
    const grave = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
    expect(grave.map(({ id, nodes }) => [id, nodes.slice(0, 3).map(({ html }) => html)])).toEqual([]);
  },
);

test.each(someRows([320, 390, 768, 1280], () => 'width'))('nothing is wider than a screen of %d', async (width) => {
  for (const record of [named(), partialRun()]) {
    const page = await open(record, { viewport: { width, height: 800 } });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    // Control totals are visible without scrolling.
    const totals = await page.evaluate("document.querySelector('.totals').getBoundingClientRect().right");
    expect(totals).toBeLessThanOrEqual(width);
  }
});

test.each(someRows([320, 390, 600], () => 'width'))(
  'on a screen of %d a refuted stream shows what refutes it, and an open one is as wide',
  async (width) => {
    const page = await open(refutedRun(), { viewport: { width, height: 800 } });
    const rightmost = (selector: string) =>
      page.locator(selector).evaluateAll((all) => Math.max(...all.map((one) => one.getBoundingClientRect().right)));
    for (const selector of ['#table td.mark', '#table td.status', '#coverage td.status'])
      expect(await rightmost(selector)).toBeLessThanOrEqual(width);
    const details = page.locator('#table details').first();
    await details.locator('summary').click();
    const widthOf = (selector: string) =>
      page
        .locator(selector)
        .first()
        .evaluate((one) => one.clientWidth);
    expect(await widthOf('#table details[open] pre')).toBeGreaterThan(0.9 * (await widthOf('#streams .wide')));
  },
);

test('over the highest column stands nothing', async () => {
  const page = await open(named());
  const edge = (selector: string, side: 'top' | 'bottom') =>
    page.locator(selector).evaluate((one, name) => one.getBoundingClientRect()[name], side);
  expect(await edge('.plot .top', 'bottom')).toBeLessThanOrEqual(await edge('.plot svg', 'top'));
});

test('names that would run are shown', async () => {
  const names = ['</script><script>alert(1)</script>', '<img src=x onerror=alert(1)>', '"><svg onload=alert(1)>'];
  const page = await open(named(names));
  expect(await rows(page)).toEqual(names);
  expect(await page.locator('img, #table svg').count()).toBe(0);
});

const evidenceOf = (count: number) => Buffer.from(JSON.stringify(packageOf(chainOf(count))));

async function sample(name: string, evidence = evidenceOf(5), runId = 'r') {
  const target = join(browser.folder, name);
  const { identity } = await writePackageBundle({ target, evidence, runId });
  return { target, identity };
}

/** Makes a bundle that states other claims than its entries show. */
async function restated(name: string, claims: Partial<Claims>, status: StreamStatus) {
  const target = join(browser.folder, name);
  const restate = (verdict: Verdict) => ({ ...verdict, status, claims: { ...verdict.claims, ...claims } });
  await writePackageBundle({ target, evidence: evidenceOf(5), restate });
  return { target };
}

async function broken(name: string) {
  const { target } = await sample(name);
  writeFileSync(target, readFileSync(target).subarray(0, -100));
  return { target, identity: '' };
}

/** Returns the verdict on each of these bundles. */
async function verify(page: Page, ...bundles: { target: string }[]): Promise<string[]> {
  const words = page.locator('.result .verdict b');
  const before = await words.count();
  await page.setInputFiles(
    '#files',
    bundles.map(({ target }) => target),
  );
  await words.nth(before + bundles.length - 1).waitFor();
  return (await words.allTextContents()).slice(before);
}

describe('a bundle', () => {
  /** Page that verifies the bundles of several tests, without a report that names them. */
  let page: Page;
  const last = () => page.locator('.result').last();
  beforeAll(async () => {
    page = await browser.open(named());
  });
  afterAll(() => page.context().close());

  test('that is good, several at once, is verified and found in the report', async () => {
    const [one, other] = [await sample('one.zip'), await sample('other.zip', evidenceOf(9))];
    const stream = monthStream(1, 'payments', {});
    const record = verifiedRun([{ ...stream, bundle: { ...stream.bundle, identity: one.identity } }]);
    const page = await open(record);
    expect(await verify(page, one, other)).toEqual(['VERIFIED HERE', 'VERIFIED HERE']);
    expect(await page.textContent('#said')).toBe('2 of 2 done. other.zip: VERIFIED HERE');
    const [first, second] = await page.locator('.result').allTextContents();
    expect(first).toContain('Its identity matches the bundle in this report');
    expect(second).toContain('This report does not list it');
    expect(second).toContain('9 entries');
  });

  test('of this run, but not the listed one, is an alarm, whatever is proved of it; one of another run is told with caution', async () => {
    const listed = await sample('listed.zip', evidenceOf(5), '2026-10');
    const forged = await sample('forged.zip', evidenceOf(4), '2026-10');
    const other = await sample('earlier.zip', evidenceOf(4), '2026-09');
    const stream = monthStream(1, STREAM);
    const record = verifiedRun([{ ...stream, bundle: { ...stream.bundle, identity: listed.identity } }]);
    const page = await open(record);
    expect(await verify(page, listed, forged, other)).toEqual([
      'VERIFIED HERE',
      'NOT THE BUNDLE OF THIS RUN',
      'VERIFIED HERE',
    ]);
    const verdicts = page.locator('.result .verdict');
    const tones = await verdicts.evaluateAll((all) => all.map(({ className }) => className));
    expect(tones).toEqual(['verdict calm', 'verdict alarm', 'verdict caution']);
    const [, second, third] = await verdicts.allTextContents();
    expect(second).toContain(`of this run, 2026-10, but this report lists another bundle for its stream, ${STREAM}`);
    expect(third).toContain('It claims to be of another run, 2026-09');
    // A bundle of a stream that the report does not list is not part of its run.
    const bare = await open(verifiedRun([monthStream(1)]));
    expect(await verify(bare, forged)).toEqual(['NOT THE BUNDLE OF THIS RUN']);
    expect(await bare.textContent('.result .verdict')).toContain('this report does not list its stream');
  });

  test('says of each claim whether it was proved here, and what checks it otherwise', async () => {
    await verify(page, await sample('claims.zip'));
    const cells = await last()
      .locator('tbody tr')
      .evaluateAll((all) => all.map((row) => row.textContent));
    expect(cells.map((text) => /^(\w+?)(proved|refuted|unproved|recorded)/.exec(text ?? '')?.slice(1))).toEqual([
      ['order', 'proved'],
      ['content', 'proved'],
      ['seal', 'unproved'],
      ['anchor', 'unproved'],
      ['continuity', 'recorded'],
      ['completeness', 'unproved'],
      ['agreement', 'unproved'],
    ]);
    expect(cells[2]).toContain('--seal-key');
    expect(cells[3]).toContain('--timestamp-roots');
  });

  test('of an entry that was edited is refuted', async () => {
    const evidence = Buffer.from(evidenceOf(5).toString().replace('actor-1', 'mallory'));
    expect(await verify(page, await sample('edited.zip', evidence))).toEqual(['REFUTED']);
    expect(await last().textContent()).toMatch(/content\/mismatch/);
  });

  test('whose file was edited, that was cut, that leads out of its folder, that is no bundle', async () => {
    const { target } = await sample('whole.zip');
    const edited = readFileSync(target);
    const at = edited.indexOf('data/evidence.json') + 200;
    edited[at] = (edited[at] ?? 0) ^ 1;
    const place = (name: string) => ({ target: join(browser.folder, name) });
    writeFileSync(place('flipped.zip').target, edited);
    const slip = foreignBag({ 'data/evidence.json': '{}' }).map((entry, index) =>
      index === 0 ? { ...entry, name: 'bag/../../x' } : entry,
    );
    writeForeignZip(place('slip.zip').target, slip);
    writeFileSync(place('text.zip').target, 'no zip at all');
    const words = await verify(
      page,
      place('flipped.zip'),
      await broken('cut.zip'),
      place('slip.zip'),
      place('text.zip'),
    );
    expect(words).toEqual(['NOT WHAT IT STATES', ...Array(3).fill('NOT A SOUND BUNDLE')]);
    const results = (await page.locator('.result').allTextContents()).slice(-4);
    expect(results[1]).toContain('is not a complete zip file');
    expect(results[2]).toContain('bundle/unsafe-name');
    for (const result of results) expect(result).toContain('Do not rely on it');
  });

  test('without an entry, or cut off by the service, is no success', async () => {
    const cut = evidenceOf(5).subarray(0, -200);
    const words = await verify(page, await sample('none.zip', evidenceOf(0)), await sample('part.zip', cut));
    expect(words).toEqual(['NOTHING CHECKED', 'INCOMPLETE']);
  });

  test('that was found refuted by what is not checked here is not called verified', async () => {
    const anchor = { state: 'refuted' as const, reason: 'a time-stamp token fails a check' };
    expect(await verify(page, await restated('anchor.zip', { anchor }, 'refuted'))).toEqual(['REFUTED']);
    expect(await last().textContent()).toContain('recorded as refuted by the export: anchor (');
  });

  test('that records less than is proved here contradicts nothing, and one that records more does', async () => {
    const agreement = { state: 'proved' as const, basis: 'the JSON form and the PDF agree' };
    expect(await verify(page, await restated('pdf.zip', { agreement }, 'verified'))).toEqual(['NOT WHAT IT STATES']);
    const content = { state: 'unproved' as const, reason: 'not looked at' };
    expect((await verify(page, await restated('less.zip', { content }, 'collected'))).at(-1)).toBe('VERIFIED HERE');
    const completeness = { state: 'proved' as const, basis: 'says who' };
    const claimed = await verify(page, await restated('more.zip', { completeness }, 'verified'));
    expect(claimed.at(-1)).toBe('NOT WHAT IT STATES');
  });

  test('with a name that hides something shows it', async () => {
    const text = JSON.stringify(
      packageOf(chainOf(3, { stream_id: 'a\u202eb' }), { stream: { stream_id: 'a\u202eb' } }),
    );
    expect(await verify(page, await sample('hidden.zip', Buffer.from(text)))).toEqual(['VERIFIED HERE']);
    expect(await last().locator('.verdict').textContent()).toContain('Stream a‹U+202E›b, 3 entries');
  });

  test('that was altered after its manifest is not called the one in the report', async () => {
    const { target, identity } = await sample('after.zip');
    const stream = monthStream(1);
    const bytes = readFileSync(target);
    const at = bytes.indexOf('data/evidence.json') + 200;
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    writeFileSync(target, bytes);
    const page = await open(verifiedRun([{ ...stream, bundle: { ...stream.bundle, identity } }]));
    expect(await verify(page, { target })).toEqual(['NOT WHAT IT STATES']);
    const text = await page.locator('.result .verdict').textContent();
    expect(text).toContain('Its manifest matches the one in this report');
    expect(text).not.toContain('Its identity matches');
  });

  test('that is encrypted is not verified, and not called broken', async () => {
    const target = join(browser.folder, 'bundle.zip.age');
    writeFileSync(target, 'age-encryption.org/v1\n-> X25519 abc\n');
    expect(await verify(page, { target })).toEqual(['NOT VERIFIED']);
    expect(await last().textContent()).toContain('age -d');
  });

  test('is taken wherever it is dropped', async () => {
    const { target } = await sample('dropped.zip');
    const page = await open(named());
    const base64 = readFileSync(target).toString('base64');
    const transfer = await page.evaluateHandle(`(() => {
      const bytes = Uint8Array.from(atob('${base64}'), (character) => character.charCodeAt(0));
      const transfer = new DataTransfer();
      transfer.items.add(new File([bytes], 'dropped.zip'));
      return transfer;
    })()`);
    await page.dispatchEvent('header', 'drop', { dataTransfer: transfer });
    await page.locator('.result:not([aria-busy])').waitFor();
    expect(await page.locator('.result .verdict b').allTextContents()).toEqual(['VERIFIED HERE']);
  });
});
