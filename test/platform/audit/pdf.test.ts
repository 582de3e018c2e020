import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renderEvidencePdf } from '../../../src/platform/audit/pdf/document.ts';
import type { EvidencePdf } from '../../../src/platform/audit/pdf/sections.ts';
import { evidencePdf, hashOf } from '../../support/evidence-pdf.ts';
import { run } from '../../support/process.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'evidence-pdf-'));
});

afterAll(() => rm(folder, { recursive: true }));

async function save(input: EvidencePdf): Promise<string> {
  const file = join(folder, `${crypto.randomUUID()}.pdf`);
  await writeFile(file, await renderEvidencePdf(input));
  return file;
}

/** Extracts the text of each page with another program. */
async function textOf(file: string, ...options: string[]): Promise<string[]> {
  const stdout = await run('pdftotext', [...options, file, '-']);
  return stdout.split('\f').slice(0, -1);
}

const squeezed = (text: string) => text.replace(/\s+/g, '');

interface Box {
  page: number;
  xMin: number;
  xMax: number;
  yMin: number;
  yMax: number;
  text: string;
}

/** Returns the box of each word, in points from the top left. */
async function wordsOf(file: string): Promise<Box[]> {
  const stdout = await run('pdftotext', ['-bbox', file, '-']);
  let page = 0;
  return stdout.split('\n').flatMap((line) => {
    if (line.includes('<page ')) page++;
    const box = /xMin="([\d.]+)" yMin="([\d.]+)" xMax="([\d.]+)" yMax="([\d.]+)">(.*)<\/word>/.exec(line);
    if (box === null) return [];
    const [xMin = 0, yMin = 0, xMax = 0, yMax = 0] = box.slice(1, 5).map(Number);
    return [{ page, xMin, yMin, xMax, yMax, text: box[5] ?? '' }];
  });
}

function overlapping(words: readonly Box[]): [string, string][] {
  return words.flatMap((a, index) =>
    words.slice(index + 1).flatMap((b): [string, string][] => {
      const across = Math.min(a.xMax, b.xMax) - Math.max(a.xMin, b.xMin);
      // Boxes are as high as the font, which exceeds the line spacing.
      const down = Math.min(a.yMax, b.yMax) - Math.max(a.yMin, b.yMin);
      const isSameLine = down > 0.5 * Math.min(a.yMax - a.yMin, b.yMax - b.yMin);
      return a.page === b.page && isSameLine && across > 0.5 ? [[a.text, b.text]] : [];
    }),
  );
}

const long = evidencePdf(5, (entry) => ({
  ...entry,
  actor: 'x'.repeat(1024),
  action: 'Word '.repeat(200),
  resource_type: 'T'.repeat(300),
  resource_id: `arn:aws:${'long/path/segment-'.repeat(50)}`,
}));
long.title = 'A long title '.repeat(50);
long.summary.stream_id = 's'.repeat(300);
long.summary.counts.actors = { ['y'.repeat(1024)]: 5 };

describe('renderEvidencePdf', () => {
  it.each([
    ['of ordinary entries', evidencePdf(30)],
    ['of ten thousand entries', evidencePdf(10_000)],
    ['of long values', long],
    ['without entries', evidencePdf(0)],
  ])('makes a sound document %s, whose words neither overlap nor leave the page', async (_what, input) => {
    const file = await save(input);
    const stdout = await run('qpdf', ['--check', file]);
    expect(stdout).toContain('No syntax or stream encoding errors found');
    const words = await wordsOf(file);
    expect(words.length).toBeGreaterThan(50);
    expect(overlapping(words)).toEqual([]);
    for (const { xMin, xMax, yMin, yMax } of words) {
      expect(Math.min(xMin - 50, 545.5 - xMax, yMin - 30, 812 - yMax)).toBeGreaterThan(0);
    }
  });

  it('states the facts as text, the identifying ones whole on one line', async () => {
    const input = evidencePdf(2900);
    const file = await save(input);
    const [first = ''] = await textOf(file);
    const lines = first.split('\n');
    for (const fact of [input.summary.package_id, input.summary.stream_id, hashOf(2900), '2900', '1 to 2900']) {
      expect(lines).toContain(fact);
    }
    const [laidOut = ''] = await textOf(file, '-layout');
    expect(laidOut).toMatch(/^Entries\s+2900$/m);
    expect(laidOut).toMatch(new RegExp(`^Head hash\\s+${hashOf(2900)}$`, 'm'));
    expect(laidOut).toMatch(
      /^Period\s+2026-10-01T00:00:00.000Z \(inclusive\) to 2026-11-01T00:00:00.000Z \(exclusive\)$/m,
    );
    expect(laidOut).toMatch(
      /^Verification\s+Shown as verified by the service; last checked 2026-11-01T05:59:58.120Z$/m,
    );
    for (const limitation of input.summary.limitations) expect(squeezed(first)).toContain(squeezed(limitation));
  });

  it('never calls a development authority a witness', async () => {
    const [page = ''] = await textOf(await save(evidencePdf(3)), '-layout');
    expect(page).toMatch(/^\s+1\s.*development authority, not an external witness$/m);
    expect(page).toMatch(/^\s+3\s.*https:\/\/tsa\.example\.com\/tsr$/m);
    expect(squeezed(page)).toContain(
      '1anchoredbyanexternalauthority;1anchoredbythedevelopmentauthority,notanexternalwitness',
    );
  });

  it.each([
    [{ verified: false, last_checked_at: null }, 'Not shown as verified by the service; Verify was never run on it'],
    [{ verified: false, last_checked_at: '2026-11-01T00:00:00.000Z' }, 'Not shown as verified by the service; last'],
  ])('states %j as the service does', async (verification, text) => {
    const input = evidencePdf(1);
    input.summary.verification = verification;
    expect((await textOf(await save(input))).join('')).toContain(text);
  });

  it('shows every one of 200 entries with its digest, under a head on each page', async () => {
    const pages = await textOf(await save(evidencePdf(200)));
    const text = pages.join('\n');
    for (let sequence = 1; sequence <= 200; sequence++) expect(text).toContain(hashOf(sequence));
    expect(text).not.toContain('omitted');
    for (const page of pages.filter((each) => each.includes(hashOf(150)) || each.includes(hashOf(60)))) {
      expect(page).toMatch(/Recorded \/ occurred/);
    }
  });

  it('shows the first and the last hundred of more, and says how many it omits', async () => {
    const text = (await textOf(await save(evidencePdf(10_000)))).join('\n');
    expect(text).toContain('9800 entries in between are omitted here; the JSON form is complete.');
    for (const shown of [1, 100, 9901, 10_000]) expect(text).toContain(hashOf(shown));
    for (const omitted of [101, 9900]) expect(text).not.toContain(hashOf(omitted));
  });

  it('numbers its pages and names the package on each', async () => {
    const pages = await textOf(await save(evidencePdf(60)));
    expect(pages.length).toBeGreaterThan(3);
    pages.forEach((page, index) => {
      expect(page).toContain(`Page ${index + 1} of ${pages.length}`);
      expect(page).toContain('pkg_01JBQK7Z4N8T3W5X6Y7Z8A9B0C');
    });
  });

  it('says that a package is empty instead of showing empty tables', async () => {
    const text = (await textOf(await save(evidencePdf(0)))).join('');
    expect(text).toContain('The package has no entries.');
    expect(text).not.toMatch(/Actors|Share|NaN|null|undefined/);
  });

  it.each([
    ['Greek', 'Ἀθηνᾶ Παπαδοπούλου'],
    ['Cyrillic', 'Фёдор Достоевский'],
    ['Vietnamese, composed from combining marks', 'Đặng Thị'.normalize('NFD')],
    ['an emoji that the font has', 'smile 😀'],
    ['Hebrew', 'יוסף כהן'],
    ['Arabic', 'أحمد بن محمد'],
  ])('sets %s so that it can be read back', async (_script, actor) => {
    const input = evidencePdf(1, (entry) => ({ ...entry, actor }));
    const file = await save(input);
    const text = (await textOf(file)).join('');
    expect(text.replace(/[\u202A-\u202E]/g, '')).toContain(actor.normalize('NFC'));
    expect(text).not.toContain('cannot be set');
  });

  it('runs Hebrew from right to left, but the numbers in it from left to right, with brackets that open to them', async () => {
    const words = await wordsOf(await save(evidencePdf(1, (entry) => ({ ...entry, actor: 'אב (12) גד' }))));
    const inSight = words.filter(({ text }) => /^([אבגד]+|\(12\))$/.test(text)).sort((a, b) => a.xMin - b.xMin);
    // -bbox lists characters from left to right.
    expect(inSight.map(({ text }) => text)).toEqual(['דג', '(12)', 'בא']);
  });

  it('joins Arabic letters', async () => {
    const widthsOf = async (action: string): Promise<number[]> => {
      const words = await wordsOf(await save(evidencePdf(1, (entry) => ({ ...entry, action }))));
      return words.filter(({ text }) => /^[لا]+$/.test(text)).map(({ xMin, xMax }) => xMax - xMin);
    };
    const [joined = Number.NaN] = await widthsOf('لا');
    const [lam = Number.NaN, alef = Number.NaN] = await widthsOf('ل ا');
    expect(joined).toBeLessThan(0.8 * (lam + alef));
  });

  it.each([
    ['a script that the font lacks', '山田', '‹U+5C71›‹U+7530›'],
    ['an emoji that the font lacks', 'x🔐', 'x‹U+1F510›'],
    ['a control character', 'a\tb\u0000', 'a‹U+0009›b‹U+0000›'],
    ['a direction override', 'a\u202Eb', 'a‹U+202E›b'],
    ['an invisible character', 'ad\u200Bmin', 'ad‹U+200B›min'],
    ['a space that is not one', 'a\u00A0b', 'a‹U+00A0›b'],
    ['a combining mark that composes with nothing', 'q\u0302', 'q‹U+0302›'],
    ['another script that runs from right to left', 'ߊ', '‹U+07CA›'],
  ])('marks %s by its code point and explains the marks on the first page', async (_what, actor, marked) => {
    const pages = await textOf(await save(evidencePdf(1, (entry) => ({ ...entry, actor }))));
    expect(squeezed(pages.join(''))).toContain(marked);
    expect(squeezed(pages[0] ?? '')).toContain(squeezed('is shown as a mark on a tinted ground'));
  });

  it('explains no marks where there are none', async () => {
    expect((await textOf(await save(evidencePdf(1)))).join('')).not.toContain('mark');
  });

  it('gives the same bytes for the same package, dated as the package is', async () => {
    const once = await renderEvidencePdf(evidencePdf(250));
    expect(Buffer.compare(once, await renderEvidencePdf(evidencePdf(250)))).toBe(0);
    const stdout = await run('pdfinfo', ['-isodates', await save(evidencePdf(1))]);
    expect(stdout).toMatch(/^CreationDate:\s+2026-11-01T06:00:00Z$/m);
    expect(stdout).toMatch(/^ModDate:\s+2026-11-01T06:00:00Z$/m);
  });

  it('does not depend on the order in which the service counted', async () => {
    const input = evidencePdf(3);
    input.summary.counts.actors = { b: 1, a: 1, c: 2 };
    const other = evidencePdf(3);
    other.summary.counts.actors = { c: 2, a: 1, b: 1 };
    expect(Buffer.compare(await renderEvidencePdf(input), await renderEvidencePdf(other))).toBe(0);
  });
});
