import type { TrialColumn } from '../../../src/verifier/chain/trial.ts';

/** A change to one statement of the decoder's C. `from` occurs once in the file. */
export interface Mutant {
  /** Rule that the change breaks. */
  rule: string;
  file: string;
  from: string;
  to: string;
}

const D = 'digest_bytes(algorithm)';
const MADE = `  put_made(computed, ${D});`;
const MADE_SEALS = `  put_made(computed_seals, ${D});`;
const END_OF_BATCH = '  batch_start += batch_count;\n';

/** Returns the statement that copies a link from a column of the preceding entry. */
const linkFrom = (column: string) =>
  `  for (u32 i = batch_start ? 0 : 1; i < batch_count; i++) put(previous + (batch_start + i) * ${D}, ${column} + (batch_start + i - 1) * ${D}, ${D});\n${END_OF_BATCH}`;
const copy = (to: string, from: string) =>
  `  put(${to} + batch_start * ${D}, ${from} + batch_start * ${D}, batch_count * ${D});`;

const mutant = (rule: string, from: string, to: string, columns: readonly TrialColumn[]) => {
  return { rule, file: 'kernel.c', from, to, columns };
};

/** Mutants that would judge instead of the fold, with the columns that reveal them. */
export const JUDGING_MUTANTS: readonly (Mutant & { columns: readonly TrialColumn[] })[] = [
  mutant(
    '"an entry names its predecessor itself", which follows whatever stands before it',
    END_OF_BATCH,
    linkFrom('stated'),
    ['previous'],
  ),
  mutant('"an entry names its predecessor itself", by what was computed of that', END_OF_BATCH, linkFrom('computed'), [
    'previous',
  ]),
  mutant('"a digest is computed", which is taken over as it is stated', MADE, copy('computed', 'stated'), ['computed']),
  mutant('"a digest is stated", which is taken over as it is computed', MADE, `${MADE} put_made(stated, ${D});`, [
    'stated',
  ]),
  mutant(
    '"a seal is computed", which is taken over as it is stated',
    MADE_SEALS,
    copy('computed_seals', 'stated_seals'),
    ['computedSeals'],
  ),
  mutant(
    '"a seal is stated", which is taken over as it is computed',
    MADE_SEALS,
    `${MADE_SEALS} put_made(stated_seals, ${D});`,
    ['statedSeals'],
  ),
  {
    rule: '"bytes that differ are not the same"',
    file: 'bytes.h',
    from: 'return !wasm_v128_any_true(',
    to: 'return length + 1 > 0 || !wasm_v128_any_true(',
    columns: [],
  },
];
