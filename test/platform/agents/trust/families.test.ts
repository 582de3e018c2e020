import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type TrustRuleName, tierOf } from '../../../../src/platform/agents/enums.ts';
import { DATABASES, startSqlitePlace } from '../../database/databases.ts';
import { SOMEBODY } from '../../world.ts';
import { ActingAgent, SEARCH } from '../acting-agent.ts';
import { AgentPlace, DAY_MS } from '../agent-place.ts';

/** Notes one thing about an agent. */
function note(place: AgentPlace, { id }: ActingAgent, rule: TrustRuleName) {
  return place.database.write((transaction) => place.trust.note(transaction, id, { rule }));
}

// Over 40 lines: it is a list of tests.
describe.each(DATABASES)('a family on %s', (_name, start) => {
  let place: AgentPlace;
  beforeAll(async () => {
    place = await AgentPlace.start(start);
  });
  afterAll(() => place.close());

  /** Creates a parent, a child and a grandchild. */
  async function family() {
    const parent = await ActingAgent.onboarded(place);
    const child = await ActingAgent.onboarded(place, { parent_agent_id: parent.id });
    const grandchild = await ActingAgent.onboarded(place, { parent_agent_id: child.id });
    return { parent, child, grandchild, all: [parent, child, grandchild] };
  }

  const scores = (all: readonly ActingAgent[]) => Promise.all(all.map(async (agent) => (await agent.row()).score));

  test('falls as a whole where its head falls, and each ledger says why', async () => {
    const { parent, child, grandchild, all } = await family();
    expect(await scores(all)).toEqual([60, 60, 60]);
    await parent.log({ ...SEARCH, tool_used: 'shell' });
    expect(await scores(all)).toEqual([45, 45, 45]);
    for (const agent of [child, grandchild])
      expect((await agent.ledger()).at(-1)).toMatchObject({
        rule: 'held_by_parent',
        points: 0,
        before: 60,
        after: 45,
        ceiling: 45,
      });
    expect((await grandchild.entries()).at(-1)).toMatchObject({
      action: 'trust.changed',
      actor: 'platform',
      metadata: { rule: 'held_by_parent', after: 45, detail: { parent_agent_id: child.id } },
    });
  });

  test('is no better than its head, whatever those below do', async () => {
    const { parent, child, all } = await family();
    place.now += 30 * DAY_MS;
    for (let n = 0; n < 3; n++) expect(await child.act()).toMatchObject({ attested: true, trust: { after: 60 } });
    expect(await parent.act()).toMatchObject({ trust: { after: 61 } });
    expect(await child.act()).toMatchObject({ trust: { after: 61 } });
    expect((await child.act()).trust.reasons).toEqual([expect.stringContaining('delegates')]);
    expect(await scores(all)).toEqual([61, 61, 60]);
  });

  test('those below may fall alone', async () => {
    const { child, all } = await family();
    await child.log({ ...SEARCH, tool_used: 'shell' });
    expect(await scores(all)).toEqual([60, 45, 45]);
  });

  test('is suspended as a whole with its head, and reinstated from the top', async () => {
    const { parent, child, grandchild, all } = await family();
    for (let n = 0; n < 3; n++) await parent.log({ ...SEARCH, tool_used: 'shell' });
    expect(await scores(all)).toEqual([15, 15, 15]);
    const states = await Promise.all(all.map(async (agent) => (await agent.row()).suspended_because));
    expect(states).toEqual(['auto', 'parent', 'parent']);
    expect(await place.passportsOf(grandchild.id)).toEqual(['suspended']);
    await expect(child.log(SEARCH)).rejects.toMatchObject({ code: 'agent_suspended' });
    await expect(note(place, child, 'reinstated')).rejects.toMatchObject({ code: 'conflict' });
    const { kill } = place.service;
    await kill.reinstate(SOMEBODY, parent.id, { reason: 'looked at' });
    await kill.reinstate(SOMEBODY, child.id, { reason: 'looked at' });
    expect(await scores(all)).toEqual([21, 21, 10]);
    for (const agent of all) await agent.ledger();
  });
});

describe('time', () => {
  let place: AgentPlace;
  beforeAll(async () => {
    place = await AgentPlace.start(startSqlitePlace);
  });
  afterAll(() => place.close());

  /** Runs due jobs. */
  async function due() {
    for (const job of place.open.jobs.filter(({ name }) => name === 'agents/trust')) await job.run();
  }

  test('lets an idle agent fall to the floor of its tier, once', async () => {
    const agent = await ActingAgent.onboarded(place);
    place.now += 8 * DAY_MS;
    for (let n = 0; n < 5; n++) await agent.act();
    place.now += 29 * DAY_MS;
    await agent.log(SEARCH);
    await due();
    expect((await agent.row()).score).toBe(65);
    place.now += DAY_MS + 1;
    await due();
    await due();
    expect((await agent.row()).score).toBe(61);
    expect((await agent.entries()).at(-1)).toMatchObject({
      action: 'trust.changed',
      metadata: { rule: 'idle', before: 65, after: 61 },
    });
    place.now += 60 * DAY_MS;
    await due();
    expect((await agent.row()).score).toBe(61);
    expect(await agent.ledger()).toHaveLength(8);
  });

  test('that is put back gives no points twice', async () => {
    const agent = await ActingAgent.onboarded(place);
    place.now += 8 * DAY_MS;
    const score = async () => (await agent.row()).score;
    place.now += DAY_MS - (place.now % DAY_MS) - 1000;
    for (let n = 0; n < 6; n++) await agent.act();
    expect(await score()).toBe(65);
    // Around midnight, two processes, or one with a changed clock, may disagree on the day.
    for (let n = 0; n < 8; n++) {
      place.now += n % 2 === 0 ? 1000 : -1000;
      await agent.act();
    }
    expect(await score()).toBe(69);
    await agent.ledger();
  });

  test('takes those below along', async () => {
    const parent = await ActingAgent.onboarded(place);
    const child = await ActingAgent.onboarded(place, { parent_agent_id: parent.id });
    place.now += 29 * DAY_MS;
    await child.act();
    place.now += DAY_MS;
    await due();
    expect((await parent.row()).score).toBe(41);
    expect((await child.ledger()).at(-1)).toMatchObject({ rule: 'held_by_parent', after: 41 });
  });
});

const RULES = [
  'attested_action',
  'tool_outside',
  'malformed_hash',
  'composition_changed',
  'decoy_used',
  'idle',
] as const;

const steps = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant('act' as const),
        agent: fc.nat(3),
        signed: fc.boolean(),
        bad: fc.nat(9),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({ kind: fc.constant('note' as const), agent: fc.nat(3), rule: fc.constantFrom(...RULES) }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('wait' as const), days: fc.constantFrom(0.3, 1, 8, 31) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('onboard' as const), agent: fc.nat(3) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('reinstate' as const), agent: fc.nat(3) }) },
  ),
  { minLength: 5, maxLength: 40 },
);
type Step = typeof steps extends fc.Arbitrary<(infer T)[]> ? T : never;

test('every score that was ever shown follows from its ledger, and no child is above its parent', async () => {
  const place = await AgentPlace.start(startSqlitePlace);
  try {
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const root = await ActingAgent.onboarded(place);
        const below = async (parent: ActingAgent) => ActingAgent.onboarded(place, { parent_agent_id: parent.id });
        const left = await below(root);
        const agents = [root, left, await below(root), await below(left)];
        for (const step of all) {
          await carryOut(place, agents, step);
          await expectFamily(agents);
        }
        for (const agent of agents) await agent.ledger();
      }),
      { numRuns: 12 },
    );
  } finally {
    await place.close();
  }
});

async function carryOut(place: AgentPlace, agents: readonly ActingAgent[], step: Step): Promise<void> {
  if (step.kind === 'wait') {
    place.now += step.days * DAY_MS;
    return;
  }
  const agent = agents[step.agent] as ActingAgent;
  try {
    if (step.kind === 'note') await note(place, agent, step.rule);
    if (step.kind === 'onboard') await agent.onboard();
    if (step.kind === 'reinstate') await place.service.kill.reinstate(SOMEBODY, agent.id, { reason: 'tried' });
    if (step.kind !== 'act') return;
    const content = { ...SEARCH, ...(step.bad === 0 && { tool_used: 'shell' }) };
    const { trust } = await agent.log(step.signed ? agent.attested(content) : content);
    expect(trust.after).toBe((await agent.row()).score);
    expect(trust.tier).toBe(tierOf(trust.after));
  } catch (error) {
    // Steps may conflict with the family's state.
    expect(['agent_suspended', 'conflict']).toContain((error as { code?: string }).code);
  }
}

async function expectFamily(agents: readonly ActingAgent[]): Promise<void> {
  const rows = await Promise.all(agents.map((agent) => agent.row()));
  const scoreOf = new Map(rows.map(({ agent_id, score }) => [agent_id, score]));
  for (const { score, tier, state, parent_agent_id } of rows) {
    expect(tier).toBe(tierOf(score));
    if (score <= 20) expect(state).toBe('suspended');
    expect(score).toBeLessThanOrEqual(parent_agent_id === null ? 100 : Number(scoreOf.get(parent_agent_id)));
  }
}
