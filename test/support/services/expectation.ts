import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { KINDS, type Kind } from './tampering.ts';

/** Expected results, in the form of test/vectors/chain/expected.json. */
export interface Expectation {
  claims: Record<string, 'proved' | 'refuted' | 'unproved'>;
  findings: { severity: string; code: string; sequence?: number; from?: number; to?: number }[];
}
export type Expectations = Record<Kind, Expectation>;

const vectors: { cases: Expectations } = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../vectors/chain/expected.json'), 'utf8'),
);

/** Returns the expected findings of each kind: those of the vectors, with a service's own exceptions. */
export function expectations(own: Partial<Record<Kind, Expectation>> = {}): Expectations {
  const all = KINDS.map((kind) => {
    const { claims, findings } = own[kind] ?? vectors.cases[kind];
    return [kind, { claims, findings }] as const;
  });
  return Object.fromEntries(all) as Expectations;
}

export const ALL_PROVED: Expectation = {
  claims: { order: 'proved', content: 'proved', seal: 'proved', continuity: 'proved' },
  findings: [],
};

/** Returns the result of an honest Verify operation: sequence numbers of wrong entries, and the first of each range. */
export function faultsOf({ claims, findings }: Expectation): { valid: boolean; sequences: number[] } {
  const refuted = ['order', 'content', 'seal'].some((claim) => claims[claim] === 'refuted');
  if (!refuted) return { valid: true, sequences: [] };
  const errors = findings.filter(({ severity }) => severity === 'error');
  return { valid: false, sequences: errors.flatMap(({ sequence, from }) => sequence ?? from ?? []) };
}
