import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { COUNTED, costIn } from '../support/cost.ts';
import { startFalseService } from '../support/false-service.ts';
import { EVIDENCE, nodeToEnd } from '../support/process.ts';
import { storyOf } from '../support/services/beside.ts';
import { placeBeside, recordIn, words } from '../support/services/beside-export.ts';

/** Number of records of each of four kinds. */
const EACH = 25_000;
/** Memory bound: ids and numbers of all records are held, but never their content. */
const LIMIT_MB = 400;

const closing: { close(): Promise<void> }[] = [];
afterAll(() => Promise.all(closing.map((one) => one.close())));

test(`${(4 * EACH).toLocaleString('en')} records are collected and proved in less than ${LIMIT_MB} MB`, async () => {
  const { streams, shown } = storyOf(EACH);
  const audit = await startFalseService();
  for (const [id, entries] of streams) audit.streams.set(id, { entries });
  const { beside, directory, env, folder } = await placeBeside(
    audit.url,
    shown,
    { verify: { completeness: 'off' } },
    {},
  );
  closing.push(audit, beside);
  const { code, stderr } = await nodeToEnd(EVIDENCE, words, { cwd: directory, env, nodeFlags: [...COUNTED] });
  expect(code, stderr).toBe(0);
  const proved = { in_period: EACH, proved_by_entry: EACH };
  const { kinds, object } = recordIn(folder).supplements;
  expect(kinds).toMatchObject({ detections: proved, events: proved, scans: proved, actions: proved });
  expect(readFileSync(join(folder, 'supplements.zip')).length).toBe(object.bytes);
  expect(costIn(stderr).memory).toBeLessThan(LIMIT_MB * 1e6);
}, 900_000);
