import { expect, test } from 'vitest';
import { readTexts } from '../../../src/exporter/report/texts.ts';
import { toStreamFinding } from '../../../src/verifier/model/stream-finding.ts';
import { digestOf, monthStream, verifiedRun } from '../../support/run-records.ts';
import { toRunView } from '../../support/run-view.ts';

const texts = readTexts();
const view = (record: Parameters<typeof toRunView>[0]) => toRunView(record, true, texts);

test('an entry that earlier exports may only name is not said to have been exported', () => {
  const place = { sequence: 10, expected: digestOf(1), actual: digestOf(2) };
  const finding = toStreamFinding('continuity/rewritten', 's', 'entry 10 is not the one that entry 11 follows', place);
  const stream = monthStream(1, 's', { status: 'refuted', findings: [finding] }, { continuity: 'refuted' });
  const [group] = view(verifiedRun([stream], { outcome: 'refuted' })).proof.findings.groups;
  expect(group?.meaning).toMatch(
    /^An entry is not the one .* or not the one that a previously exported entry follows\./,
  );
  expect(group?.shown[0]?.values).toEqual([
    { label: 'had or followed in the earlier export', value: digestOf(1) },
    { label: 'now', value: digestOf(2) },
  ]);
});

test('of a refuted stream without entries only what is refuted is counted', () => {
  const gone = { status: 'refuted', entries: 0, first_sequence: null, head: null } as const;
  const states = { order: 'unproved', content: 'unproved', seal: 'unproved', continuity: 'refuted' } as const;
  const streams = [monthStream(1, 'auth', {}, { seal: 'unproved' }), monthStream(2, 'payments', gone, states)];
  const { proof, provenance, outcome } = view(verifiedRun(streams, { outcome: 'refuted' }));
  const shares = proof.claims.map(({ name, proved, refuted, unproved, of }) => [name, proved, refuted, unproved, of]);
  expect(shares).toEqual([
    ['order', 1, 0, 0, 1],
    ['content', 1, 0, 0, 1],
    ['seal', 0, 0, 1, 1],
    ['anchor', 1, 0, 0, 1],
    ['continuity', 1, 1, 0, 2],
    ['completeness', 1, 0, 0, 1],
    ['agreement', 1, 0, 0, 1],
  ]);
  expect(outcome.sentences).toContain('Refuted: continuity (1 stream). Not proved: seal (1 of 1 stream with entries).');
  const conclusion = provenance.ipe.find(({ label }) => label === 'Conclusion')?.lines ?? [];
  expect(conclusion).toContain(`${texts.conclusion.order}: 1 of 1`);
  expect(conclusion).toContain(`${texts.conclusion.continuity}: 1 of 2`);
  expect(texts.proves.introduction).toMatch(
    /have entries, that were not completely received, or in which the claim is refuted\.$/,
  );
});

test('an accepted end is told of with its label, and to the preparer; one entry is one entry', () => {
  const hash = digestOf(7);
  const ended = toStreamFinding('continuity/accepted-missing', 'idle', 'gone', { sequence: 8, expected: hash });
  const one = toStreamFinding('order/gap', 's', 'entry 12 is missing', { from: 12, to: 12 });
  const record = verifiedRun([monthStream(1, 's', { findings: [one] })], {
    ended: [{ stream_id: 'idle', head: { sequence: 8, hash, run_id: '2026-09' }, entries: 8, finding: ended }],
  });
  const { proof, preparer } = view(record);
  const shown = new Map(proof.findings.groups.map(({ code, shown: [first] }) => [code, first]));
  expect(shown.get('continuity/accepted-missing')?.values).toEqual([
    { label: 'last digest that was exported', value: hash },
  ]);
  expect(shown.get('order/gap')?.place).toBe('entry 12');
  expect(preparer.flatMap(({ about }) => about)).toContain('idle: continuity/accepted-missing');
});

test('what is to be known of a run stands beside its times, as sentences', () => {
  const messages = ['the clock of who exported was behind', 'b', 'c', 'd'];
  const warnings = messages.map((message) => ({ code: 'clock-skew' as const, message }));
  expect(view(verifiedRun([monthStream(1)], { warnings })).run.notes).toEqual([
    'The clock of who exported was behind.',
    'B.',
    'C.',
    'And 1 more: see “Period and time zone”.',
  ]);
  expect(view(verifiedRun([monthStream(1)])).run.notes).toEqual([]);
});

test('of a run without entries it is said that there was none to check, not that nothing was checked', () => {
  const none = { status: 'empty', entries: 0, first_sequence: null, head: null } as const;
  const stream = monthStream(1, 's', none, { order: 'unproved', agreement: 'proved' });
  const { provenance } = view(verifiedRun([stream], { outcome: 'empty' }));
  const [sentence] = provenance.ipe.find(({ label }) => label === 'Conclusion')?.lines ?? [];
  expect(sentence).toBe('There was no entry to check, so nothing follows.');
});

test.each([
  ['in part', { partial: true, missing: [{ form: 'pdf', code: 'service' as const, reason: '503' }] }],
  ['unreadable', { findings: [toStreamFinding('package/unreadable', 's', 'it ends in the middle')] }],
])('a stream of which no entry is known, and that was received %s, is counted for every claim', (_words, how) => {
  const none = { status: 'incomplete', entries: 0, first_sequence: null, head: null, ...how } as const;
  const { claims } = view(verifiedRun([monthStream(1, 's', none, { order: 'unproved' })])).proof;
  expect(claims.map(({ of }) => of)).toEqual(claims.map(() => 1));
});

test.each([
  ['continuity/truncated', /^Known missing: at least 2 entries in 1 stream \(see Findings\)\.$/],
  [
    'continuity/accepted-missing',
    /^Known missing: at least 2 entries in 1 stream that earlier exports have, .* gone: acc/,
  ],
] as const)('how many entries are gone by %s is said as the least that is known', (code, says) => {
  const finding = toStreamFinding(code, 's', 'entries 40 to 41 are gone', { from: 40, to: 41 });
  const stream = monthStream(1, 's', { findings: [finding] });
  const { provenance, streams } = view(verifiedRun([stream]));
  expect(provenance.ipe.find(({ label }) => label === 'Conclusion')?.lines.at(-1)).toMatch(says);
  expect(Object.fromEntries(streams.factsOf(stream))['missing']).toBe('at least 2');
});
