import { expect, test } from 'vitest';
import { readTexts } from '../../../src/exporter/report/texts.ts';
import { toRunView } from '../../../src/exporter/report/view/view.ts';
import { toStreamFinding } from '../../../src/verifier/model/stream-finding.ts';
import { digestOf, monthStream, verifiedRun } from '../../support/run-records.ts';

const texts = readTexts();
const view = (record: Parameters<typeof toRunView>[0]) => toRunView(record, true, texts);

test('an entry that earlier exports may only name is not said to have been exported', () => {
  const place = { sequence: 10, expected: digestOf(1), actual: digestOf(2) };
  const finding = toStreamFinding('continuity/rewritten', 's', 'entry 10 is not the one that entry 11 follows', place);
  const stream = monthStream(1, 's', { status: 'refuted', findings: [finding] }, { continuity: 'refuted' });
  const [group] = view(verifiedRun([stream], { outcome: 'refuted' })).proof.findings.groups;
  expect(group?.meaning).toMatch(
    /^An entry is not the one .* or is not the one that an entry exported before follows\./,
  );
  expect(group?.shown[0]?.values).toEqual([
    { label: 'had or followed in the earlier export', value: digestOf(1) },
    { label: 'now', value: digestOf(2) },
  ]);
});
