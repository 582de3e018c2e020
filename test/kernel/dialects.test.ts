import { expect, test } from 'vitest';
import { chainIn, ALL_DIALECTS } from '../support/dialects.ts';
import { randomFrom } from '../fuzz/packages.ts';
import { comparePaths } from '../fuzz/dialects.ts';
import { packageIn } from '../support/dialects.ts';
for (const d of ALL_DIALECTS) test(d.name, () => {
  const c = chainIn(d, 200, randomFrom(7));
  const r = comparePaths(d, packageIn(d, c));
  expect(r.fast).toBe(r.slow);
  console.log(d.name, r.taken, r.all, r.findings, d.contract.plainKind === null ? 'NULL' : '', [...r.uncovered].join('; ').slice(0, 150));
});
