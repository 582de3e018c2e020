import { expect } from 'vitest';
import { listAll } from '../service.ts';
import { AGENTS, type Answering, answered, type HttpAgent, onboarded } from './http-agent.ts';
import { replay } from './trust/replay.ts';

/** Numbers of actions per agent that are signed and malformed. Their order does not matter. */
const SIGNED = 5;
const MALFORMED = 3;

/** Agents that act concurrently. */
export class Crowd {
  readonly #service: Answering;
  readonly agents: readonly HttpAgent[];
  /** Actions to report; agents take turns. */
  readonly #actions: { agent: HttpAgent; action: object }[] = [];

  private constructor(service: Answering, agents: readonly HttpAgent[]) {
    this.#service = service;
    this.agents = agents;
  }

  /** @param each number of actions per agent. */
  static async of(service: Answering, { agents: count, each }: { agents: number; each: number }): Promise<Crowd> {
    const agents: HttpAgent[] = [];
    for (let number = 0; number < count; number++) agents.push(await onboarded(service));
    // Lowers each score first: at its ceiling, a score would depend on the order of actions.
    for (const agent of agents) await agent.said({ tool_used: 'shell' });
    const crowd = new Crowd(service, agents);
    for (let number = 0; number < each; number++)
      for (const agent of agents) crowd.#actions.push({ agent, action: actionOf(agent, number) });
    return crowd;
  }

  /** Makes all agents act concurrently. @returns the duration in seconds. */
  async act(): Promise<number> {
    const began = performance.now();
    const answers = await Promise.all(this.#actions.map(({ agent, action }) => agent.send('POST', '/actions', action)));
    const seconds = (performance.now() - began) / 1000;
    const places = new Set<string>();
    for (const answer of answers) {
      const { entry } = answered(answer, 201);
      places.add(`${entry.stream_id} ${entry.sequence} ${entry.hash}`);
    }
    expect(places.size).toBe(this.#actions.length);
    return seconds;
  }

  /** Expects every score to follow from its ledger, and Verify to pass every chain. */
  async expectRight(): Promise<void> {
    const each = this.#actions.length / this.agents.length;
    for (const { id } of this.agents) {
      const path = `${AGENTS}/${id}`;
      const { body } = await this.#service.call('GET', `${path}/trust-score`);
      const lines = (await listAll(this.#service, `${path}/trust-score/history?limit=500`)).reverse();
      const { scores, faults } = replay(lines);
      expect({ score: body.score, replayed: scores.at(-1), faults }).toEqual({
        score: 45 + SIGNED - 3 * MALFORMED,
        replayed: body.score,
        faults: [],
      });
      const actions = await listAll(this.#service, `${path}/actions?limit=500`);
      expect(actions).toHaveLength(each + 1);
      const stream = encodeURIComponent(`agents/${id}`);
      const verified = await this.#service.call('POST', `/streams/${stream}/verify`);
      expect(verified.body).toMatchObject({ verified: true, failures: [] });
      const logged = await listAll(this.#service, `/entries/?stream_id=${stream}&action=action.logged&limit=500`);
      expect(logged.map(({ hash }) => hash).sort()).toEqual(actions.map(({ entry }) => entry.hash).sort());
    }
  }
}

function actionOf(agent: HttpAgent, number: number): object {
  if (number < SIGNED) return agent.attested();
  const plain = { action_type: 'tool_call', action_description: 'read an invoice', tool_used: 'read_file' };
  return number < SIGNED + MALFORMED ? { ...plain, input_hash: 'none' } : plain;
}
