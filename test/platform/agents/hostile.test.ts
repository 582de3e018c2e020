import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Service, startService } from '../service.ts';
import { AGENTS, type HttpAgent, onboarded } from './http-agent.ts';
import { NEW_ACTION, NEW_AGENT } from './operations.ts';

let service: Service;
let agent: HttpAgent;
beforeAll(async () => {
  service = await startService();
  agent = await onboarded(service);
});
afterAll(() => service.close());

type Refused = readonly [words: string, status: number, body: unknown];

const LONG = 'x'.repeat(9000);
const MANY = Array.from({ length: 501 }, (_, at) => `t${at}`);
/** Inserts a text that JSON.stringify would not write. */
const raw = (body: object, written: string) => JSON.stringify({ ...body, name: '@' }).replace('"@"', written);

/** Bodies that every operation refuses. */
const ANY: readonly Refused[] = [
  ['no body', 422, undefined],
  ['an array', 422, []],
  ['text', 400, 'x'],
  ['null', 422, 'null'],
  ['nothing in it', 422, {}],
  ['ten megabytes', 413, { name: 'x'.repeat(10 * 2 ** 20) }],
  ['arrays within arrays', 400, `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
];

const REGISTRATIONS: readonly Refused[] = [
  ['an unknown member', 422, { ...NEW_AGENT, more: 1 }],
  ['__proto__', 422, raw(NEW_AGENT, '"x","__proto__":{"state":"active"}')],
  ['an id of its own', 422, { ...NEW_AGENT, agent_id: 'x' }],
  ['a score of its own', 422, { ...NEW_AGENT, score: 100 }],
  ['an empty name', 422, { ...NEW_AGENT, name: ' ' }],
  ['a name with U+0000', 422, { ...NEW_AGENT, name: 'a\0b' }],
  ['a name with a lone surrogate', 422, raw(NEW_AGENT, '"\\ud800"')],
  ['a name twice', 422, raw(NEW_AGENT, '"a","name":"b"')],
  ['a name that is too long', 422, { ...NEW_AGENT, name: LONG }],
  ['a name that is a number', 422, { ...NEW_AGENT, name: 1 }],
  ['a type that nobody knows', 422, { ...NEW_AGENT, agent_type: 'rogue' }],
  ['a version of letters', 422, { ...NEW_AGENT, version: 'one' }],
  ['a version of many numbers', 422, { ...NEW_AGENT, version: '1.'.repeat(40) }],
  ['501 tools', 422, { ...NEW_AGENT, allowed_tools: MANY }],
  ['tools as a text', 422, { ...NEW_AGENT, allowed_tools: 'search' }],
  ['a tool that is null', 422, { ...NEW_AGENT, allowed_tools: [null] }],
  ['an API that is an address', 422, { ...NEW_AGENT, allowed_apis: ['https://api.example.com/'] }],
  ['an API that is everything', 422, { ...NEW_AGENT, allowed_apis: ['*'] }],
  ['a prompt that is no digest', 422, { ...NEW_AGENT, prompt_sha256: 'A'.repeat(64) }],
  ['a parent that nobody knows', 404, { ...NEW_AGENT, parent_agent_id: 'x' }],
];

const PATCHES: readonly Refused[] = [
  ['a state', 422, { state: 'active' }],
  ['a parent', 422, { parent_agent_id: null }],
  ['a composition', 422, { composition: 'a'.repeat(64) }],
  ['an empty version', 422, { version: '' }],
  ['tools that are null', 422, { allowed_tools: null }],
];

const ACTIONS: readonly Refused[] = [
  ['an unknown member', 422, { ...NEW_ACTION, decision: 'allowed' }],
  ['no description', 422, { ...NEW_ACTION, action_description: '' }],
  ['a tool with U+0000', 422, { ...NEW_ACTION, tool_used: 'a\0' }],
  ['a tool that is a list', 422, { ...NEW_ACTION, tool_used: ['t'] }],
  ['a description that is too long', 422, { ...NEW_ACTION, action_description: LONG }],
  ['half an attestation', 422, { ...NEW_ACTION, attestation: { action_id: 'x' } }],
  ['an algorithm that nobody offered', 422, { ...NEW_ACTION, attestation: attested({ algorithm: 'none' }) }],
  ['an id that is a path', 422, { ...NEW_ACTION, attestation: attested({ action_id: '../x' }) }],
  ['a time that is none', 422, { ...NEW_ACTION, attestation: attested({ signed_at: 'now' }) }],
  ['a time long ago', 422, { ...NEW_ACTION, attestation: attested({ signed_at: '2020-01-01T00:00:00Z' }) }],
];

function attested(more: object) {
  const id = '00000000-0000-4000-8000-000000000000';
  return { action_id: id, signed_at: new Date().toISOString(), algorithm: 'EdDSA', signature: 'x', ...more };
}

describe.each([
  ['a registration', 'POST', () => AGENTS, [...ANY, ...REGISTRATIONS]],
  ['a change', 'PATCH', () => `${AGENTS}/${agent.id}`, [...ANY, ...PATCHES]],
  ['an action', 'POST', () => `${AGENTS}/${agent.id}/actions`, [...ANY, ...ACTIONS]],
  [
    'an outcome',
    'POST',
    () => `${AGENTS}/${agent.id}/actions/x/outcome`,
    [...ANY, ['another word', 422, { outcome: 'fine' }]],
  ],
  [
    'a use of the kill switch',
    'POST',
    () => `${AGENTS}/${agent.id}/kill-switch`,
    [...ANY, ['no reason', 422, { mode: 'revoke' }]],
  ],
  [
    'a simulation',
    'POST',
    () => `${AGENTS}/${agent.id}/trust-score/simulate`,
    [...ANY, ['both', 422, { rules: [], action: {} }]],
  ],
  ['a secret', 'PUT', () => `${AGENTS}/${agent.id}/vault/secrets/x`, [...ANY, ['no text', 422, { value: 1 }]]],
] satisfies [string, string, () => string, Refused[]][])('%s', (_what, method, path, rows) => {
  test.each(rows)('with %s is refused in words, and changes nothing', async (_words, status, body) => {
    const before = await standing();
    const answer = await service.call(method, path(), body, { 'content-type': 'application/json' });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      status,
      expect.stringContaining('application/problem+json'),
    ]);
    expect(answer.body.detail).toMatch(/\w+:? \w+/);
    expect(answer.text.length).toBeLessThan(8000);
    expect(await standing()).toBe(before);
  });
});

test.each(['..', '%00', 'x'.repeat(3000), "' OR 1=1 --", '%2e%2e%2fx', '\u202e'])(
  'an agent with the id %j is not there',
  async (id) => {
    const escaped = id.startsWith('%') ? id : encodeURIComponent(id);
    for (const [method, below, body] of [
      ['GET', '', undefined],
      ['POST', '/onboard', undefined],
      ['POST', '/actions', NEW_ACTION],
      ['GET', '/trust-score', undefined],
      ['GET', '/kill-switch/x', undefined],
    ] as const) {
      const { status } = await service.call(method, `${AGENTS}/${escaped}${below}`, body);
      expect([below, [404, 405, 414, 422].includes(status)]).toEqual([below, true]);
    }
  },
);

/** Returns all records about agents. */
function standing(): Promise<string> {
  return service.sql(
    'SELECT * FROM agents; SELECT COUNT(*) FROM agent_actions; SELECT COUNT(*) FROM agent_trust_lines; SELECT COUNT(*) FROM agent_kills; SELECT COUNT(*) FROM agent_secrets; SELECT COUNT(*) FROM entries',
  );
}
