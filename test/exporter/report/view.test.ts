import bidi from 'bidi-js';
import { describe, expect, test } from 'vitest';
import { readTexts } from '../../../src/exporter/report/texts.ts';
import { CLAIMS, type ClaimName } from '../../../src/verifier/claims/claim.ts';
import { type StreamFindingCode, toStreamFinding } from '../../../src/verifier/model/stream-finding.ts';
import type { RunRecord } from '../../../src/verifier/records/record.ts';
import { NO_SUPPLEMENTS, runRecord } from '../../support/records.ts';
import { earlierRun, monthStream, partialRun, refutedRun, verifiedRun } from '../../support/run-records.ts';
import { toRunView } from '../../support/run-view.ts';

const texts = readTexts();
const view = (record: Parameters<typeof toRunView>[0], finalized = true) => toRunView(record, finalized, texts);
const none = { listed: 0, exported: 0, partial: 0, failed: 0, empty: 0, excluded: 0, supplements: NO_SUPPLEMENTS };

/** Returns the paragraph level (UAX #9): 0 for left-to-right text, 1 for right-to-left text. */
const directionOf = (text: string) =>
  (bidi as unknown as () => ReturnType<typeof bidi.default>)().getEmbeddingLevels(text).paragraphs[0]?.level;

test('what is said of an operator runs from left to right, whatever the name', () => {
  const { provenance } = view({ ...verifiedRun([monthStream(1)]), operator: { user: 'المشغل', host: '主机' } });
  const { ipe, custody } = provenance;
  const said = [
    ...ipe.filter(({ label }) => label === 'Operator').flatMap(({ lines }) => lines),
    ...custody.map(({ who }) => who),
  ].filter((text) => text.includes('المشغل'));
  expect(said).toHaveLength(2);
  expect(said.map(directionOf)).toEqual([0, 0]);
});

test('a period without an end goes up to the export by the clock that dates its entries', () => {
  const record: RunRecord = {
    ...verifiedRun([monthStream(1)]),
    period: { from: '2026-10-01T00:00:00.000Z', to: null },
    begun_at: '2026-10-11T00:00:00.000Z',
    begun_at_by_service: '2026-11-02T10:30:00.000Z',
  };
  const { run, coverage, provenance } = view(record);
  expect(run.period).toBe('from 1 October 2026 up to the export of 2 November 2026, 10:30 (UTC)');
  expect(coverage.quiet).toEqual(['Without an entry in any stream of this run (2 days): 1–2 November 2026.']);
  expect(provenance.ipe.find(({ label }) => label === 'Period and time zone')?.lines[0]).toContain(run.period);
});

describe('the outcome', () => {
  test.each([
    ['verified', verifiedRun([monthStream(1)]), true, 'calm', ['VERIFIED']],
    ['refuted', refutedRun(), true, 'alarm', ['REFUTED']],
    ['partial', partialRun(), true, 'caution', ['PARTIAL']],
    ['refuted and partial', { ...partialRun(), outcome: 'refuted' as const }, true, 'alarm', ['REFUTED', 'PARTIAL']],
    ['an attempt', verifiedRun([monthStream(1)]), false, 'caution', ['PARTIAL']],
    [
      'empty',
      runRecord('e', [], { outcome: 'empty', reconciliation: { ...none, listed: 1, empty: 1 } }),
      true,
      'caution',
      ['NOTHING CHECKED'],
    ],
  ])('of a run that is %s', (_what, record, finalized, tone, words) => {
    expect(view(record, finalized).outcome).toMatchObject({ tone, words });
  });

  test('of a run in which only a stream is missed says that, and speaks of none that is refuted', () => {
    const { words, sentences } = view({ ...refutedRun(), streams: [monthStream(1)] }).outcome;
    expect(words).toEqual(['REFUTED']);
    expect(sentences).toEqual([texts.outcome.refuted.missed, expect.stringMatching(/^1 stream exported earlier/)]);
  });

  test('counts what it speaks of', () => {
    const [refuted, vanished] = view(refutedRun()).outcome.sentences;
    expect(refuted).toMatch(/^2 of 3 streams are refuted/);
    expect(vanished).toMatch(/^1 stream exported earlier/);
    expect(view(partialRun()).outcome.sentences.join(' ')).toMatch(/of 5 streams listed, 1 partial .* 1 not collected/);
  });

  test.each<[code: StreamFindingCode, claim: ClaimName, says: RegExp]>([
    ['seal/mismatch', 'seal', /refuted: seals do not match the key that was given for them\. Do not/],
    ['seal/missing', 'seal', /refuted: seals are missing or malformed\. Do not/],
    ['anchor/untrusted', 'anchor', /refuted: the certificates of time-stamps are not valid\. Do not/],
    ['anchor/imprint-mismatch', 'anchor', /refuted: time-stamps are not valid for the entries .*\. Do not/],
    ['continuity/rewritten', 'continuity', /those that earlier exports had, or that an entry in them follows\. Do not/],
    ['completeness/count-differs', 'completeness', /refuted: the package is not what the service lists .*\. Do not/],
  ])('refuted by %s says that, and nothing else that it may be', (code, claim, says) => {
    const stream = monthStream(1);
    const claims = { ...stream.claims, [claim]: { state: 'refuted', reason: '1 deviation' } };
    const findings = [toStreamFinding(code, stream.stream_id, 'as it was found')];
    const record = {
      ...refutedRun(),
      vanished: [],
      streams: [{ ...stream, status: 'refuted' as const, claims, findings }],
    };
    expect(view(record).outcome.sentences[0]).toMatch(says);
  });

  test('an attempt says that it is not finalized', () => {
    expect(view(partialRun(), false).outcome.sentences.join(' ')).toContain('The run is not finalized');
  });
});

test('every stream that is not as it should be is an exception, with its reason', () => {
  expect(view(partialRun()).extent.exceptions.map(({ kind, streamId, reason }) => [kind, streamId, reason])).toEqual([
    ['not exported', 'prod/dead', 'no answer within 30 s'],
    ['partial', 'prod/half', 'the pdf form is missing: 503, after five attempts'],
    ['excluded', 'prod/debug', '--exclude */debug'],
  ]);
});

test('nothing is concluded to be complete and accurate where any claim is refuted', () => {
  const conclusionOf = (claims: object) => {
    const stream = monthStream(1);
    const record = verifiedRun([{ ...stream, claims: { ...stream.claims, ...claims } }]);
    return view(record).provenance.ipe.find(({ label }) => label === 'Conclusion')?.lines ?? [];
  };
  expect(conclusionOf({})[0]).toMatch(/^Each condition below is met for every stream in scope/);
  for (const name of CLAIMS) {
    const lines = conclusionOf({ [name]: { state: 'refuted', reason: 'r' } });
    expect(lines[0]).toBe(`Not shown to be complete and accurate: a check found a contradiction (${name}).`);
    expect(lines).toContain('No claim is refuted: 0 of 1');
  }
});

test('claims are counted over the streams, with the reasons', () => {
  const claims = new Map(view(refutedRun()).proof.claims.map((claim) => [claim.name, claim]));
  expect(claims.get('order')).toMatchObject({ proved: 2, refuted: 1, unproved: 0, required: true });
  expect(claims.get('content')).toMatchObject({ refuted: 1, remarks: [{ state: 'refuted', streams: 1 }] });
  expect(claims.get('seal')).toMatchObject({ proved: 3, of: 3, required: false });
});

describe('charts', () => {
  test('every day of the period has a bar, whether something happened or not', () => {
    const activity = { per: 'day' as const, counts: { '2026-10-05': 3 }, undated: 2 };
    const { charts } = view(verifiedRun([monthStream(1, 's', { activity })]));
    expect(charts.activity?.bars).toHaveLength(31);
    expect(charts.activity?.bars.filter(({ count }) => count > 0)).toEqual([{ label: '2026-10-05', count: 3 }]);
    expect(charts.activity?.notes).toEqual(['2 entries without a readable time are not shown.']);
  });

  test('streams that lie years apart are shown by month or year', () => {
    const at = (day: string) => ({ activity: { per: 'day' as const, counts: { [day]: 1 }, undated: 0 } });
    const far = [monthStream(1, 'a', at('2001-01-05')), monthStream(2, 'b', at('2026-10-01'))];
    const labels = view(verifiedRun(far, { period: { from: null, to: null } })).charts.activity?.bars ?? [];
    expect([labels.length, labels[0]?.label, labels.at(-1)?.label]).toEqual([26, '2001', '2026']);
  });

  test('the twelve largest streams by name, the others together: nothing is lost', () => {
    const streams = Array.from({ length: 20 }, (_, index) => monthStream(index, `s-${index}`, { entries: index + 1 }));
    const bars = view(verifiedRun(streams)).charts.streams?.bars ?? [];
    expect(bars).toHaveLength(13);
    expect(bars[0]).toEqual({ label: 's-19', count: 20 });
    expect(bars.at(-1)).toEqual({ label: '8 other streams', count: 36, isRest: true });
  });

  test('actions are added over streams; streams without such counts are named', () => {
    const one = monthStream(1, 'a', { actions: { counts: [['LOGIN', 2]], others: 5 } });
    const two = monthStream(2, 'b', {
      actions: {
        counts: [
          ['LOGIN', 3],
          ['PAY', 1],
        ],
        others: 0,
      },
    });
    const three = monthStream(3, 'c', { entries: 7, actions: null });
    const { actions } = view(verifiedRun([one, two, three])).charts;
    expect(actions?.bars).toEqual([
      { label: 'LOGIN', count: 5 },
      { label: 'PAY', count: 1 },
      { label: 'all other actions', count: 5, isRest: true },
    ]);
    expect(actions?.notes[0]).toMatch(/1 stream \(7 entries\)/);
  });
});

describe('coverage', () => {
  const months = (record: Parameters<typeof toRunView>[0]) =>
    new Map(view(record).coverage.months.map(({ month, ...cover }) => [month, cover]));

  test('each month shows its newest run; a month without one is a gap', () => {
    const earlier = [
      earlierRun('2026-07'),
      earlierRun('2026-09'),
      { ...earlierRun('2026-09', 'refuted'), run_id: '2026-09.r2' },
    ];
    const shown = months(verifiedRun([monthStream(1)], { earlier_runs: earlier }));
    expect([...shown.keys()]).toEqual(['2026-07', '2026-08', '2026-09', '2026-10']);
    expect(shown.get('2026-10')).toEqual({ state: 'whole', outcome: 'verified', note: null });
    expect(shown.get('2026-09')).toEqual({ state: 'whole', outcome: 'refuted', note: null });
    expect(shown.get('2026-08')).toEqual({ state: 'none', outcome: null, note: null });
  });

  test('of a month that one run of few streams has, it says how few', () => {
    const few = { ...earlierRun('2026-09'), run_id: 'few', listed: 29, left_out: 28 };
    const shown = months(verifiedRun([monthStream(1)], { earlier_runs: [few] }));
    expect(shown.get('2026-09')).toEqual({ state: 'partial', outcome: 'verified', note: '1 of 29' });
  });

  test.each([
    ['older', ['refuted', 'verified']],
    ['newer', ['verified', 'refuted']],
  ] as const)('a refuted run, %s than one that has more of the month, is not hidden by it', (_age, outcomes) => {
    const earlier = outcomes.map((outcome) => {
      const until = `2026-09-${outcome === 'refuted' ? '10' : '20'}T00:00:00.000Z`;
      return { ...earlierRun('2026-09', outcome), run_id: outcome, until };
    });
    const shown = months(verifiedRun([monthStream(1)], { earlier_runs: earlier }));
    expect(shown.get('2026-09')).toEqual({ state: 'partial', outcome: 'refuted', note: 'some days' });
    expect(shown.get('2026-10')).toMatchObject({ outcome: 'verified' });
  });

  test('days without an entry are told as spans', () => {
    const counts = { '2026-10-01': 1, '2026-10-05': 2, '2026-10-06': 1, '2026-10-31': 4 };
    const stream = monthStream(1, 's', { activity: { per: 'day', counts, undated: 0 } });
    expect(view(verifiedRun([stream])).coverage.quiet).toEqual([
      'Without an entry in any stream of this run (27 days): 2–4 October 2026; 7–30 October 2026.',
    ]);
  });

  test('a run of all time covers from its first entry to its own time', () => {
    const shown = months(
      verifiedRun([monthStream(1)], {
        period: { from: null, to: null },
        begun_at: '2026-11-15T00:00:00.000Z',
        finished_at: '2026-11-15T00:00:00.000Z',
      }),
    );
    expect([...shown].map(([month, { state, note }]) => [month, state, note])).toEqual([
      ['2026-10', 'whole', null],
      ['2026-11', 'partial', 'some days'],
    ]);
  });
});

test('where nothing failed and something is open, the findings say so; what to do next is told apart from them', () => {
  const open = view(verifiedRun([monthStream(1, 's', {}, { seal: 'unproved' })])).proof.findings;
  expect(open.none).toBe('No check failed. Not proved: seal (1 of 1 stream with entries).');
  expect(view(verifiedRun([monthStream(1)])).proof.findings.none).toBe(texts.findings.none);
  expect(view(partialRun()).preparer).toEqual([
    { step: 'Run it again.', about: ['prod/dead: not exported'], others: 0 },
  ]);
});

test('findings are grouped by code, the gravest first, and every one is counted', () => {
  const { groups, total, streams } = view(refutedRun()).proof.findings;
  expect(groups.map(({ code }) => code)).toEqual(['content/mismatch', 'continuity/stream-vanished', 'order/gap']);
  expect([total, streams]).toEqual([5, 3]);
  expect(groups[2]?.shown).toMatchObject([{ streamId: 'prod/payments', place: 'entries 7 to 9' }]);
  for (const { meaning } of groups) expect(meaning.length).toBeGreaterThan(20);
});

test('a control shows the streams that speak to it, and which of them are refuted', () => {
  const control = { id: 'X.1', title: 't', claims: ['order' as const], speaks_to: 's', does_not_show: 'd' };
  const controls = {
    format: 'evidence-controls/1' as const,
    framework: 'F',
    controls: [{ ...control, streams: ['prod/p*'] }, control],
  };
  const record = refutedRun();
  record.report.controls = [controls];
  const shown = view(record).frameworks[0]?.controls.map(({ streams, refuted, claims }) => [streams, refuted, claims]);
  expect(shown).toEqual([
    [1, 1, [{ name: 'order', proved: 0 }]],
    [3, 2, [{ name: 'order', proved: 2 }]],
  ]);
});
