import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { someRows } from '../../../support/some-rows.ts';
import { DATABASES } from '../../database/databases.ts';
import { ActingAgent, SEARCH } from '../acting-agent.ts';
import { AgentPlace } from '../agent-place.ts';
import { stop } from './kill-place.ts';

/** Rounds, each of which begins with another action. */
const ROUNDS = someRows([0, 1, 2, 3], (round) => round < 2);
/** Codes that refuse actions of a stopped agent. */
const REFUSALS = ['agent_suspended', 'agent_revoked', 'conflict'];

describe.each(DATABASES)('a kill switch on %s', (_name, start) => {
  let place: AgentPlace;
  beforeAll(async () => {
    place = await AgentPlace.start(start);
  });
  afterAll(() => place.close());

  test.each(['suspend', 'revoke'] as const)(
    'leaves nobody out who is registered, onboarded or at work meanwhile: %s',
    async (mode) => {
      for (const round of ROUNDS) {
        const parent = await ActingAgent.onboarded(place);
        const child = await ActingAgent.onboarded(place, { parent_agent_id: parent.id });
        const waiting = await place.registered({ parent_agent_id: child.id });
        const { agents, onboarding, kill } = place.service;
        const meanwhile = [
          () => child.onboard(),
          () => onboarding.onboard({ name: 'test', scopes: [] }, waiting, undefined),
          () => ActingAgent.onboarded(place, { parent_agent_id: child.id }),
          () => ActingAgent.onboarded(place, { parent_agent_id: parent.id }),
          () => child.log(SEARCH),
          () => agents.change({ name: 'test', scopes: [] }, parent.id, { model: `model-${round}` }),
        ];
        const all = [() => stop(kill, parent.id, mode), ...meanwhile];
        const inTurn = [...all.slice(round), ...all.slice(0, round)].map((begin) => begin());
        for (const outcome of await Promise.allSettled(inTurn))
          if (outcome.status === 'rejected') expect(REFUSALS).toContain(outcome.reason.code);
        const { data } = await agents.list({ limit: 100 });
        const family = data.filter(({ agent_id, parent_agent_id }) =>
          [parent.id, child.id].some((id) => id === agent_id || id === parent_agent_id),
        );
        expect(family.length).toBeGreaterThanOrEqual(3);
        for (const { agent_id, state, identity } of family) {
          expect([agent_id, state]).toEqual([agent_id, mode === 'suspend' ? 'suspended' : 'revoked']);
          expect(await place.isValid(agent_id)).toBe(false);
          if (identity === null) continue;
          expect(identity.passport.status).toBe(state);
          const reason = mode === 'suspend' ? 'certificateHold' : 'cessationOfOperation';
          const own = (await place.revocationsOf(agent_id)).filter(({ reason }) => reason !== 'superseded');
          expect(own.map((row) => row.reason)).toEqual([reason, reason]);
          if (mode === 'revoke')
            expect((await place.keysOf(agent_id)).every(({ revoked_at }) => revoked_at !== null)).toBe(true);
        }
      }
    },
    60_000,
  );
});
