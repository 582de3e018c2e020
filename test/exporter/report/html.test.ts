import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { readControls } from '../../../src/exporter/cli/config/controls.ts';
import { nextStepOf } from '../../../src/exporter/next-steps.ts';
import { type PageParts, renderHtml } from '../../../src/exporter/report/html/document.ts';
import { readParts } from '../../../src/exporter/report/reports.ts';
import { readTexts } from '../../../src/exporter/report/texts.ts';
import { CLAIMS } from '../../../src/verifier/claims/claim.ts';
import type { RunRecord } from '../../../src/verifier/records/record.ts';
import { joined } from '../../support/pieces.ts';
import { earlierRun, monthStream, partialRun, refutedRun, verifiedRun } from '../../support/run-records.ts';
import { toRunView } from '../../support/run-view.ts';

const texts = readTexts();
let parts: PageParts;

beforeAll(async () => {
  parts = await readParts();
});

const bytesOf = (record: RunRecord, finalized = true) =>
  joined(renderHtml(toRunView(record, finalized, texts), texts, parts));
const htmlOf = (record: RunRecord) => bytesOf(record).toString();
const withoutPrograms = (html: string) => html.replace(/<(style|script)[^>]*>.*?<\/\1>/gs, '');
/** Returns the visible text, without markup. */
const wordsOf = (record: RunRecord) =>
  withoutPrograms(htmlOf(record))
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ');

describe('what comes from outside', () => {
  const HOSTILE = '</script><img src=x onerror="alert(1)">&amp;\'';

  test('is text wherever it stands', () => {
    const run = refutedRun();
    const record: RunRecord = {
      ...run,
      streams: [
        monthStream(9, HOSTILE, {
          package_id: HOSTILE,
          missing: [{ form: HOSTILE, code: 'service', reason: HOSTILE }],
          partial: true,
        }),
        ...run.streams.map((stream) => ({
          ...stream,
          findings: stream.findings.map((finding) => ({ ...finding, message: HOSTILE, expected: HOSTILE })),
        })),
      ],
      failed: [{ stream_id: HOSTILE, code: 'service', reason: HOSTILE, next_step: HOSTILE }],
      excluded: [{ stream_id: HOSTILE, pattern: HOSTILE }],
      warnings: [{ code: 'replaces', message: HOSTILE }],
      operator: { user: HOSTILE, host: HOSTILE },
      report: { ...run.report, organisation: HOSTILE },
      earlier_runs: [{ ...earlierRun('2026-09'), run_id: HOSTILE }],
      source: { ...run.source, audit_url: HOSTILE },
    };
    const html = htmlOf(record);
    expect(html).not.toContain('<img');
    expect(html.match(/<script/g)).toHaveLength(2);
    expect(
      html.split('&lt;/script&gt;&lt;img src=x onerror=&quot;alert(1)&quot;&gt;&amp;amp;&#39;').length,
    ).toBeGreaterThan(15);
  });
});

test('the policy allows the one style and the one program by their digests, and no connection', () => {
  const html = htmlOf(verifiedRun([monthStream(1)]));
  const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1]?.replaceAll('&#39;', "'");
  const digestOf = (tag: string) => {
    const text = new RegExp(`<${tag}>(.*?)</${tag}>`, 's').exec(html)?.[1] ?? '';
    return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  };
  expect(policy?.split('; ')).toEqual([
    "default-src 'none'",
    `script-src ${digestOf('script')} 'wasm-unsafe-eval'`,
    `style-src ${digestOf('style')}`,
    'worker-src blob:',
    "base-uri 'none'",
    "form-action 'none'",
  ]);
  expect(withoutPrograms(html)).not.toMatch(/ style="| on\w+="|<link|src="|url\(/);
});

test.each(['</script>', '<!-- '])('a program that would end its own element is refused: %s', (end) => {
  const view = toRunView(verifiedRun([monthStream(1)]), true, texts);
  expect(() => renderHtml(view, texts, { ...parts, verifier: `x = "${end}"` })).toThrow(TypeError);
});

test('the same record gives the same bytes', () => {
  const digest = (record: RunRecord) => createHash('sha256').update(bytesOf(record)).digest('hex');
  expect(digest(refutedRun())).toBe(digest(refutedRun()));
  expect(digest(refutedRun())).not.toBe(digest(partialRun()));
});

describe('what it says', () => {
  test.each([
    ['VERIFIED', 'calm', verifiedRun([monthStream(1)])],
    ['REFUTED', 'alarm', refutedRun()],
    ['PARTIAL', 'caution', partialRun()],
    ['REFUTED · PARTIAL', 'alarm', { ...partialRun(), outcome: 'refuted' as const }],
  ])('%s comes first, and looks like it', (word, tone, record) => {
    expect(htmlOf(record)).toContain(`<div class="outcome ${tone}">\n<p class="word">${word}</p>`);
    expect(wordsOf(record).indexOf(` ${word} `)).toBeLessThan(600);
  });

  test('of every stream its claims, its status and what identifies it', () => {
    const html = htmlOf(partialRun());
    for (const { stream_id, bundle, claims } of partialRun().streams) {
      const row = new RegExp(`<tr[^>]*><th scope="row"><details><summary><bdi>${stream_id}<.*?</tr>`, 's').exec(
        html,
      )?.[0];
      expect(row).toContain(bundle.sha256);
      expect([...(row ?? '').matchAll(/class="mark (\w+)"/g)].map((match) => match[1])).toEqual(
        CLAIMS.map((claim) => claims[claim].state),
      );
    }
    expect(html.match(/data-status="(\w+)"/g)).toEqual([
      'data-status="verified"',
      'data-status="incomplete"',
      'data-status="empty"',
    ]);
  });

  test('findings with what they mean, exceptions with their reasons, what is not proved', () => {
    const words = wordsOf(refutedRun());
    for (const text of [
      'entries 7 to 9 are missing',
      texts.meanings['order/gap'],
      'the service no longer lists the stream',
      texts.preparer.introduction,
      ...(refutedRun().streams.at(1)?.findings ?? []).slice(0, 1).map(nextStepOf),
      ...toRunView(refutedRun(), true, texts).proof.doesNotProve,
    ])
      expect(words).toContain(text);
    expect(wordsOf(partialRun())).toContain('the pdf form is missing: 503, after five attempts');
  });

  test('the controls that are named, with what the evidence does not show', () => {
    const record = refutedRun();
    record.report.controls = readControls(['soc2']);
    const [framework] = toRunView(record, true, texts).frameworks;
    expect(wordsOf(record)).toContain(`Does not show: ${framework?.controls[0]?.doesNotShow}`);
    expect(wordsOf(record)).toContain('refuted in 2 streams');
  });

  test('activity as a drawing that says its numbers', () => {
    const html = htmlOf(verifiedRun([monthStream(1)]));
    expect(html).toMatch(/<svg role="img" aria-label="Entries per day[^"]*: 91 in 31 bars/);
    expect(html.match(/<rect/g)?.length).toBeGreaterThan(31);
  });
});

test('the bars of thousands of streams can be compared: all others have a number and no bar', () => {
  const streams = Array.from({ length: 2000 }, (_, index) => monthStream(index, `s-${index}`, { entries: index + 1 }));
  const rows = [
    ...htmlOf(verifiedRun(streams)).matchAll(/<tr><th scope="row"><bdi>(s-1999|s-1988|1,988 other streams)<.*/g),
  ];
  expect(rows.map(([row, name]) => [name, /<rect width="([\d.]+)%/.exec(row)?.[1] ?? null])).toEqual([
    ['s-1999', '100'],
    ['s-1988', '99.45'],
    ['1,988 other streams', null],
  ]);
  expect(rows[2]?.[0]).toContain('>1,977,066<');
});

test('5,000 streams cost little', () => {
  const streams = Array.from({ length: 5000 }, (_, index) => monthStream(index));
  const start = process.cpuUsage();
  const bytes = bytesOf(verifiedRun(streams));
  const { user, system } = process.cpuUsage(start);
  expect(bytes.toString().match(/<tr data-identity/g)).toHaveLength(5000);
  expect(bytes.length).toBeLessThan(16e6);
  expect((user + system) / 1e6).toBeLessThan(5);
});
