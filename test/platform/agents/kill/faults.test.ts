import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { KILL_STEPS, type KillStepName } from '../../../../src/platform/agents/enums.ts';
import { Unasked } from '../../../../src/platform/agents/kill/asking.ts';
import { KillSwitch } from '../../../../src/platform/agents/kill/kill-switch.ts';
import { type KillStep, killSteps } from '../../../../src/platform/agents/kill/steps.ts';
import type { AgentTables } from '../../../../src/platform/agents/tables.ts';
import type { Transaction } from '../../../../src/platform/database/database.ts';
import { inTurn, someRows } from '../../../support/some-rows.ts';
import { DATABASES } from '../../database/databases.ts';
import { AgentPlace } from '../agent-place.ts';
import { ALL_DONE, killMeansOf, killSwitchOf, patient, resultsOf, stop, withStep } from './kill-place.ts';

const DEADLINE_MS = 100;
/** Bound on all steps of an agent on a busy machine: a third of the deadline of one step. */
const ALL_WITHIN_MS = 20_000;
const NEVER = new Promise<never>(() => {});

/** Makes a step fail after it has acted; the action must be rolled back. */
function failing(step: KillStep): KillStep {
  const fail = () => {
    throw new Error('a fault');
  };
  if ('act' in step) return { ...step, act: (...given) => step.act(...given).then(fail) };
  return { ...step, look: (...given) => step.look(...given).then(fail) };
}

/** Makes a step act and then hang. */
function hanging(step: KillStep): KillStep {
  if ('act' in step)
    return { ...step, deadlineMs: DEADLINE_MS, act: (...given) => step.act(...given).then(() => NEVER) };
  return { ...step, deadlineMs: DEADLINE_MS, look: () => NEVER };
}

/** Makes a step look from outside for a shorter time. */
function hasty(step: KillStep): KillStep {
  if ('act' in step) return step;
  return {
    ...step,
    look: ({ watch, ...subject }) =>
      step.look({ ...subject, watch: { flipped: (agentId) => watch.flipped(agentId, DEADLINE_MS) } }),
  };
}

describe.each(DATABASES)('a step of the kill switch on %s', (database, start) => {
  let place: AgentPlace;
  beforeAll(async () => {
    place = await AgentPlace.start(start);
  });
  afterAll(() => place.close());

  const FAULTS = [
    ['fails', failing, /^a fault\.$/],
    ['hangs', hanging, /^the work did not finish within 100 ms\.$/],
  ] as const;
  // Each step has each fault on one of the two databases.
  const faults = database === 'SQLite' ? FAULTS : FAULTS.toReversed();
  const rows = someRows(inTurn(KILL_STEPS, faults), ([step]) => step).map(([step, fault]) => [step, ...fault] as const);

  test.each(rows)(
    '%s that %s is reported, nothing of it stays, and the others are done',
    async (name, _how, change, why) => {
      const agentId = await place.onboarded();
      const kill = killSwitchOf(place, withStep(name, change));
      const begun = performance.now();
      const receipt = await stop(kill, agentId, 'revoke');
      const took = performance.now() - begun;
      expect(resultsOf(receipt)).toEqual({ ...ALL_DONE, [name]: 'failed' });
      const step = receipt.agents[0]?.steps.find((each) => each.step === name);
      expect(step?.detail).toMatch(why);
      expect(receipt.finished_at).not.toBeNull();
      expect(receipt.message).toContain('1 steps failed');
      const entry = (await place.entries(agentId)).find(({ metadata }) => metadata['step'] === name);
      expect(entry?.metadata).toMatchObject({ result: 'failed', detail: step?.detail });
      // A step that waited for another step's deadline would take longer.
      expect(took).toBeLessThan(DEADLINE_MS + ALL_WITHIN_MS);
      expect(await leftUndone(agentId)).toEqual(UNDONE[name] ?? []);
      // Public verification fails by the passport if the state is unchanged, and by the certificates if both are.
      expect(await place.isValid(agentId)).toBe(false);
      // A repeated use of the kill switch completes the failed step.
      if (UNDONE[name] !== undefined) {
        expect(resultsOf(await stop(place.service.kill, agentId, 'revoke'))).toEqual(ALL_DONE);
        expect(await leftUndone(agentId)).toEqual([]);
      }
    },
  );

  /** State that a failing step leaves unchanged. */
  const UNDONE: Partial<Record<KillStepName, string[]>> = {
    agent_state: ['state'],
    passport_status: ['passport'],
    certificates: ['certificates'],
    api_keys: ['keys'],
  };

  async function leftUndone(agentId: string): Promise<string[]> {
    const { state } = await place.service.agents.find(agentId);
    const passports = await place.passportsOf(agentId);
    const revocations = await place.revocationsOf(agentId);
    const keys = await place.keysOf(agentId);
    return [
      ...(state === 'revoked' ? [] : ['state']),
      ...(passports.includes('revoked') ? [] : ['passport']),
      ...(revocations.length === 2 ? [] : ['certificates']),
      ...(keys.every(({ revoked_at }) => revoked_at !== null) ? [] : ['keys']),
    ];
  }

  test('all of them hang, and each costs its deadline once', async () => {
    const agentId = await place.onboarded();
    const begun = performance.now();
    const receipt = await stop(killSwitchOf(place, hanging), agentId);
    const took = performance.now() - begun;
    expect(new Set(Object.values(resultsOf(receipt)))).toEqual(new Set(['failed']));
    expect(took).toBeGreaterThan(KILL_STEPS.length * DEADLINE_MS);
    expect(took).toBeLessThan(KILL_STEPS.length * DEADLINE_MS + ALL_WITHIN_MS);
  });

  test('what wakes up after its deadline changes nothing', async () => {
    const agentId = await place.onboarded();
    let wake: (value: unknown) => void = () => {};
    const asleep = new Promise((resolve) => {
      wake = resolve;
    });
    let late: Promise<unknown> = Promise.resolve();
    const sleeping = (step: KillStep): KillStep => {
      if (!('act' in step)) return step;
      const act = (transaction: Transaction, subject: Parameters<typeof step.act>[1]) => {
        const done = asleep.then(() => step.act(transaction, subject));
        late = done.catch((error) => error);
        return done;
      };
      return { ...step, deadlineMs: DEADLINE_MS, act };
    };
    const receipt = await stop(killSwitchOf(place, withStep('agent_state', sleeping)), agentId);
    wake(undefined);
    expect(await late).toMatchObject({ message: 'the work did not finish within 100 ms' });
    expect(resultsOf(receipt)).toEqual({ ...ALL_DONE, agent_state: 'failed' });
    expect((await place.service.agents.find(agentId)).state).toBe('active');
  });

  test('public verification that still says valid, or cannot be asked, is why its step failed', async () => {
    for (const [askPublic, why] of [
      [async () => true, 'Public verification still reported the agent as valid.'],
      [() => Promise.reject(new Error('nobody answers')), 'Public verification failed: nobody answers'],
      [() => Promise.reject(new Unasked('too often')), 'Public verification failed: too often'],
    ] as const) {
      const deps = killMeansOf(place, { askPublic });
      const receipt = await stop(
        new KillSwitch(deps, killSteps(deps).map(patient).map(hasty)),
        await place.onboarded(),
      );
      expect(resultsOf(receipt)).toEqual({ ...ALL_DONE, public_verification: 'failed' });
      expect(receipt.agents[0]?.steps.find(({ step }) => step === 'public_verification')?.detail).toBe(why);
      expect(receipt.public_verification_flipped_after_ms).toBeNull();
    }
  });
});

const WAITING: readonly KillStepName[] = ['passport_status', 'certificates'];

test('on PostgreSQL a step that waits for what another transaction holds costs its deadline, and the others are done', async () => {
  const [, start] = DATABASES[1] ?? [];
  if (start === undefined) throw new Error('there is no PostgreSQL');
  const place = await AgentPlace.start(start);
  let release: () => void = () => {};
  try {
    const agentId = await place.onboarded();
    let held: () => void = () => {};
    const isHeld = new Promise<void>((resolve) => {
      held = resolve;
    });
    const holding = place.database.write(async (transaction) => {
      const identities = transaction.tables<AgentTables>().selectFrom('agent_identities').selectAll();
      await identities.modifyEnd(transaction.sql.locked).execute();
      held();
      await new Promise<void>((resolve) => {
        release = resolve;
      });
    });
    await isHeld;
    const soon = (step: KillStep): KillStep => ({ ...step, deadlineMs: 250 });
    const kill = killSwitchOf(place, (step) => (WAITING.includes(step.name) ? soon(step) : step));
    const begun = performance.now();
    const receipt = await stop(kill, agentId);
    expect(performance.now() - begun).toBeLessThan(2 * 250 + ALL_WITHIN_MS);
    // Revocation needs the identity that the test holds locked.
    expect(resultsOf(receipt)).toEqual({ ...ALL_DONE, passport_status: 'failed', certificates: 'failed' });
    release();
    await holding;
    expect(resultsOf(await stop(place.service.kill, agentId))).toEqual(ALL_DONE);
  } finally {
    release();
    await place.close();
  }
});
