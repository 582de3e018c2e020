import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { TRUST_RULES, type TrustRuleName, type TrustTier, tierOf } from '../../../../src/platform/agents/enums.ts';
import { TRUST_TIMES } from '../../../../src/platform/agents/settings.ts';
import { stepOf, type TrustStanding } from '../../../../src/platform/agents/trust/ledger.ts';
import { ceilingOf, dayOf, daysAfter } from '../../../../src/platform/agents/trust/rules.ts';
import type { TrustLine } from '../../../../src/platform/agents/wire/trust.ts';
import { replay } from './replay.ts';

const START = '2026-01-01T00:00:00.000Z';

/** An inserted agent, before its first line. */
const NEW: TrustStanding = {
  score: 0,
  tier: 'AUTO-SUSPENDED',
  ledger_length: 0,
  trusted_since: null,
  composition_changed_at: null,
  attested_at: null,
  attested_day: null,
  attested_points: 0,
  due_at: null,
};

/** Returns an agent with this score and without restrictions. */
const free = (score: number): TrustStanding => ({
  ...NEW,
  score,
  ledger_length: 1,
  trusted_since: '2020-01-01T00:00:00Z',
});

/** A ledger that advances with time. */
class Walk {
  standing = NEW;
  readonly lines: TrustLine[] = [];
  now = new Date(START);

  note(rule: TrustRuleName, parentScore: number | null = null): TrustLine | null {
    const { line, standing } = stepOf(this.standing, { rule }, { now: this.now, times: TRUST_TIMES, parentScore });
    this.standing = standing;
    if (line !== null) this.lines.push(line);
    return line;
  }

  wait(days: number): void {
    this.now = daysAfter(this.now.toISOString(), days);
  }

  static onboarded(): Walk {
    const walk = new Walk();
    walk.note('registered');
    walk.note('onboarded');
    return walk;
  }
}

test.each<[number, TrustTier]>([
  [0, 'AUTO-SUSPENDED'],
  [20, 'AUTO-SUSPENDED'],
  [21, 'RESTRICTED'],
  [40, 'RESTRICTED'],
  [41, 'MONITOR'],
  [60, 'MONITOR'],
  [61, 'TRUSTED'],
  [80, 'TRUSTED'],
  [81, 'VERIFIED'],
  [100, 'VERIFIED'],
])('a score of %i is the tier %s', (score, tier) => {
  expect(tierOf(score)).toBe(tier);
});

test.each<[TrustRuleName, from: number, to: number]>([
  ['attested_action', 20, 21],
  ['attested_action', 40, 41],
  ['attested_action', 60, 61],
  ['attested_action', 80, 81],
  ['attested_action', 99, 100],
  ['tool_outside', 36, 21],
  ['tool_outside', 35, 20],
  ['tool_outside', 15, 0],
  ['tool_outside', 14, 0],
  ['tool_outside', 96, 81],
  ['tool_outside', 95, 80],
  ['api_outside', 71, 61],
  ['api_outside', 70, 60],
  ['malformed_hash', 44, 41],
  ['malformed_hash', 43, 40],
  ['bad_signature', 41, 21],
  ['bad_signature', 40, 20],
  ['attempt_while_suspended', 20, 15],
  ['attempt_while_suspended', 3, 0],
  ['attempt_while_suspended', 0, 0],
  ['decoy_used', 100, 70],
  ['decoy_used', 29, 0],
  ['composition_changed', 100, 60],
  ['composition_changed', 60, 60],
  ['composition_changed', 59, 59],
  ['reinstated', 0, 21],
  ['reinstated', 20, 21],
  ['reinstated', 30, 30],
  ['reinstated', 100, 40],
  ['idle', 100, 81],
  ['idle', 80, 61],
  ['idle', 60, 41],
  ['idle', 40, 21],
])('%s leads from %i to %i', (rule, from, to) => {
  const walk = new Walk();
  walk.standing = free(from);
  expect(walk.note(rule)).toMatchObject({ before: from, after: to });
  expect(walk.standing).toMatchObject({ score: to, tier: tierOf(to) });
});

test.each([
  { name: 'an action at 100', score: 100, actionsBefore: 0, parentScore: null },
  { name: 'a sixth action of a day', score: 50, actionsBefore: 5, parentScore: null },
  { name: 'an action below a parent of the same score', score: 50, actionsBefore: 0, parentScore: 50 },
])('$name writes no line', ({ score, actionsBefore, parentScore }) => {
  const walk = new Walk();
  walk.standing = free(score);
  times(actionsBefore, () => walk.note('attested_action', parentScore));
  const { score: before } = walk.standing;
  expect(walk.note('attested_action', parentScore)).toBeNull();
  expect(walk.standing.score).toBe(before);
});

test('the points of a day end with the UTC day', () => {
  const walk = new Walk();
  walk.standing = free(50);
  walk.now = new Date('2026-01-01T23:59:59.999Z');
  times(9, () => walk.note('attested_action'));
  expect(walk.standing.score).toBe(55);
  walk.now = new Date('2026-01-02T00:00:00.000Z');
  times(9, () => walk.note('attested_action'));
  expect(walk.standing.score).toBe(60);
});

describe('a ceiling', () => {
  const at = (days: number) => daysAfter(START, days);
  const none = { trusted_since: START, composition_changed_at: null, parentScore: null };
  test.each([
    ['before onboarding', { ...none, trusted_since: null }, at(0), 60, 'not_onboarded', null],
    ['of the first days', none, at(0), 60, 'time', at(7)],
    ['at the last moment of them', none, new Date(at(7).getTime() - 1), 60, 'time', at(7)],
    ['once TRUSTED can be reached', none, at(7), 80, 'time', at(21)],
    ['at the last moment of that', none, new Date(at(21).getTime() - 1), 80, 'time', at(21)],
    ['once VERIFIED can be reached', none, at(21), 100, 'none', null],
    ['by a parent', { ...none, parentScore: 33 }, at(21), 33, 'parent', null],
    ['by a parent that is trusted more', { ...none, parentScore: 70 }, at(1), 60, 'time', at(7)],
    [
      'by a composition that changed',
      { ...none, composition_changed_at: START },
      at(99),
      60,
      'composition_changed',
      null,
    ],
  ])('%s', (_name, facts, now, score, because, until) => {
    expect(ceilingOf(facts, now, TRUST_TIMES)).toEqual({ score, because, until: until?.toISOString() ?? null });
  });
});

test('promotion takes time as well as points', () => {
  const walk = Walk.onboarded();
  const tiers: string[] = [];
  for (let day = 0; day <= 26; day++) {
    times(50, () => walk.note('attested_action'));
    if (tiers.at(-1) !== `${walk.standing.tier}`) tiers.push(walk.standing.tier);
    if (day === 6) expect(walk.standing.score).toBe(60);
    if (day === 7) expect(walk.standing.score).toBe(65);
    if (day === 10) expect(walk.standing.score).toBe(80);
    if (day === 20) expect(walk.standing.score).toBe(80);
    if (day === 21) expect(walk.standing.score).toBe(85);
    walk.wait(1);
  }
  expect(walk.standing.score).toBe(100);
  expect(tiers).toEqual(['MONITOR', 'TRUSTED', 'VERIFIED']);
});

test('onboarding again gives no points, and lifts what a changed composition holds', () => {
  const walk = Walk.onboarded();
  walk.wait(30);
  times(3, () => walk.note('attested_action'));
  expect(walk.note('composition_changed')).toMatchObject({ before: 63, after: 60, points: 0 });
  expect(walk.note('composition_changed')).toBeNull();
  expect(walk.note('attested_action')).toBeNull();
  expect(walk.note('onboarded')).toBeNull();
  expect(walk.note('attested_action')).toMatchObject({ before: 60, after: 61 });
});

test('reinstatement has time begin anew', () => {
  const walk = Walk.onboarded();
  walk.wait(30);
  walk.note('reinstated');
  expect(walk.standing.score).toBe(40);
  for (let day = 0; day < 7; day++) {
    times(5, () => walk.note('attested_action'));
    walk.wait(1);
  }
  expect(walk.standing.score).toBe(60);
});

const steps = fc.array(
  fc.record({
    rule: fc.constantFrom(...TRUST_RULES.filter((rule) => rule !== 'registered')),
    days: fc.constantFrom(0, 0, 0, 0.01, 0.4, 1, 7, 14, 31),
    parentScore: fc.option(fc.nat(100), { nil: null }),
  }),
  { maxLength: 120 },
);

test('every score follows from the ledger, whatever happens', () => {
  fc.assert(
    fc.property(steps, (all) => {
      const walk = new Walk();
      walk.note('registered');
      const shown = [walk.standing.score];
      for (const { rule, days, parentScore } of all) {
        walk.wait(days);
        const line = walk.note(rule, parentScore);
        const { score, tier, ledger_length } = walk.standing;
        if (line === null) expect(score).toBe(shown.at(-1));
        else {
          shown.push(score);
          const { trusted_since, composition_changed_at } = walk.standing;
          const facts = { trusted_since, composition_changed_at, parentScore };
          expect(score).toBeLessThanOrEqual(ceilingOf(facts, walk.now, TRUST_TIMES).score);
        }
        expect(score).toBeGreaterThanOrEqual(0);
        expect({ tier, ledger_length }).toEqual({ tier: tierOf(score), ledger_length: walk.lines.length });
      }
      expect(replay(walk.lines)).toEqual({ scores: shown, faults: [] });
    }),
  );
});

test('a ledger in which anything was changed does not replay', () => {
  const change = fc.record({
    name: fc.constantFrom('entry_no', 'points', 'before', 'after' as const),
    by: fc.constantFrom(-7, -1, 1, 12),
    at: fc.nat(),
  });
  fc.assert(
    fc.property(steps, change, (all, { name, by, at }) => {
      const walk = Walk.onboarded();
      for (const { rule, days } of all) {
        walk.wait(days);
        walk.note(rule);
      }
      const changed = walk.lines.map((line) => ({ ...line }));
      const line = changed[at % changed.length] as Record<string, unknown>;
      line[name] = Number(line[name]) + by;
      expect(replay(changed).faults).not.toEqual([]);
      expect(replay(walk.lines.slice(1)).faults).not.toEqual([]);
    }),
  );
});

test('a ledger with more points than a day can have does not replay', () => {
  const walk = Walk.onboarded();
  walk.wait(30);
  times(5, () => walk.note('attested_action'));
  walk.wait(1);
  walk.note('attested_action');
  const { at } = walk.lines[2] as TrustLine;
  const sameDay = walk.lines.with(-1, { ...(walk.lines.at(-1) as TrustLine), at });
  expect(replay(walk.lines).faults).toEqual([]);
  expect(replay(sameDay).faults).toEqual([{ entry_no: 8, what: `more than 5 points were earned on ${dayOf(at)}` }]);
});

function times(count: number, what: () => unknown): void {
  for (let n = 0; n < count; n++) what();
}
