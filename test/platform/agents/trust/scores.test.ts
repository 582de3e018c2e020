import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { simulationSchema } from '../../../../src/platform/agents/wire/trust.ts';
import { startSqlitePlace } from '../../database/databases.ts';
import { ActingAgent, SEARCH } from '../acting-agent.ts';
import { AgentPlace, DAY_MS } from '../agent-place.ts';
import { setState } from '../rows.ts';

let place: AgentPlace;
beforeAll(async () => {
  place = await AgentPlace.start(startSqlitePlace);
});
afterAll(() => place.close());

const score = ({ id }: ActingAgent) => place.service.trust.score(id);
const simulate = ({ id }: ActingAgent, input: object) =>
  place.service.trust.simulate(id, simulationSchema.parse(input));

test('a score says what it is the sum of, what holds it and until when, and what to do next', async () => {
  const agent = await ActingAgent.onboarded(place);
  await agent.log({ ...SEARCH, tool_used: 'shell' });
  await agent.act();
  await agent.act();
  expect(await score(agent)).toEqual({
    agent_id: agent.id,
    score: 47,
    tier: 'MONITOR',
    meaning: 'Monitor',
    state: 'active',
    ceiling: 60,
    ceiling_because: 'time',
    ceiling_until: new Date(place.now + 7 * DAY_MS).toISOString(),
    why: '47 of 100 is MONITOR. The score is at most 60: promotion takes time as well as points.',
    factors: [
      { rule: 'registered', lines: 1, points: 50 },
      { rule: 'onboarded', lines: 1, points: 10 },
      { rule: 'tool_outside', lines: 1, points: -15 },
      { rule: 'attested_action', lines: 2, points: 2 },
    ],
    next_steps: [
      expect.stringMatching(/a point, at most 5 a day.*TRUSTED starts at 61/),
      expect.stringContaining('30 days'),
    ],
  });
});

test('factors add up to the score also where a ceiling took points away', async () => {
  const parent = await ActingAgent.onboarded(place);
  await parent.log({ ...SEARCH, tool_used: 'shell' });
  const child = await ActingAgent.onboarded(place, { parent_agent_id: parent.id });
  const { score: shown, factors, ceiling_because, next_steps } = await score(child);
  expect(factors.reduce((sum, { points }) => sum + points, 0)).toBe(shown);
  expect({ shown, ceiling_because }).toEqual({ shown: 45, ceiling_because: 'parent' });
  expect(next_steps[0]).toContain(parent.id);
});

test.each([
  ['registered', async () => place.registered(), /Onboard it/],
  ['another one', async () => ghost(), /onboard it again/],
  ['suspended', async () => suspended(), /reinstate/],
  ['revoked', async () => revoked(), /register another one/],
])('an agent that is %s has a next step', async (_state, make, step) => {
  const { next_steps } = await place.service.trust.score(await make());
  expect(next_steps[0]).toMatch(step);
});

async function ghost(): Promise<string> {
  const agent = await ActingAgent.onboarded(place);
  await agent.log({ ...SEARCH, model: 'another' });
  return agent.id;
}

async function suspended(): Promise<string> {
  const agent = await ActingAgent.onboarded(place);
  for (let n = 0; n < 3; n++) await agent.log({ ...SEARCH, tool_used: 'shell' });
  return agent.id;
}

async function revoked(): Promise<string> {
  const agent = await ActingAgent.onboarded(place);
  await setState(place.database, agent.id, 'revoked');
  return agent.id;
}

test('the history is the ledger, newest first, page by page, with a sentence for each line', async () => {
  const agent = await ActingAgent.onboarded(place);
  await agent.log({ ...SEARCH, tool_used: 'shell' });
  const { trust } = place.service;
  const first = await trust.history(agent.id, { limit: 2 });
  expect(first.data.map(({ entry_no, rule, reason }) => [entry_no, rule, reason])).toEqual([
    [3, 'tool_outside', '−15: a tool that the agent is not allowed to use.'],
    [2, 'onboarded', '+10: the agent was onboarded for the first time.'],
  ]);
  const next = await trust.history(agent.id, { limit: 2, cursor: String(first.next_cursor) });
  expect(next).toMatchObject({ data: [{ entry_no: 1, before: 0, after: 50 }], next_cursor: null });
});

describe('what would happen', () => {
  test.each([
    [
      { rules: ['tool_outside', 'tool_outside', 'tool_outside'] },
      { before: 60, after: 15, tier: 'AUTO-SUSPENDED', state: 'suspended' },
    ],
    [
      { rules: ['attested_action'] },
      { before: 60, after: 60, lines: [], reasons: [expect.stringContaining('at most 60')] },
    ],
    [{ rules: ['decoy_used', 'bad_signature', 'reinstated'] }, { after: 21, state: 'active' }],
    [{ action: SEARCH }, { after: 60, lines: [], reasons: [expect.stringContaining('earns no points')] }],
    [
      { action: { tool_used: 'shell', api_called: 'elsewhere' } },
      { after: 35, lines: [{ rule: 'tool_outside' }, { rule: 'api_outside' }] },
    ],
    [{ action: { model: 'another' } }, { after: 60, lines: [{ rule: 'composition_changed' }] }],
  ])('with %j', async (input, expected) => {
    const agent = await ActingAgent.onboarded(place);
    expect(await simulate(agent, input)).toMatchObject({ before: 60, ...expected });
    expect(await agent.ledger()).toHaveLength(2);
    expect((await agent.row()).state).toBe('active');
  });

  test('is what happens', async () => {
    const agent = await ActingAgent.onboarded(place);
    place.now += 8 * DAY_MS;
    const action = { ...SEARCH, tool_used: 'shell', output_hash: 'none' };
    const { after, lines } = await simulate(agent, { action });
    const logged = await agent.log(action);
    expect(logged.trust.after).toBe(after);
    expect((await agent.ledger()).slice(2)).toMatchObject(
      lines.map(({ rule, points, before }) => ({ rule, points, before })),
    );
    expect((await simulate(agent, { action: { ...SEARCH, attested: true } })).after).toBe(
      (await agent.act()).trust.after,
    );
  });

  test.each([{}, { rules: [] }, { rules: ['registered'] }, { rules: ['idle'], action: {} }])(
    '%j is refused',
    (input) => {
      expect(simulationSchema.safeParse(input).success).toBe(false);
    },
  );
});
