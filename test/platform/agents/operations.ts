import type { Scope } from '../../../src/platform/scopes.ts';
import type { Service } from '../service.ts';

export const AGENTS_API = '//agents/api/v1';

export const NEW_AGENT = {
  name: 'x',
  agent_type: 'supervised',
  model: 'm',
  version: '1.0',
  allowed_tools: ['t'],
  allowed_apis: [],
};
export const NEW_ACTION = { action_type: 'tool_call', action_description: 'x', tool_used: 't' };

interface AgentOperation {
  operation: string;
  needed: Scope;
  given?: readonly Scope[];
  path: string;
  body?: () => unknown;
}

let made = 0;
const newTool = () => ({ kind: 'tool', name: `tool-${++made}` });

function operation(
  method: string,
  below: string,
  path: string,
  needed: Scope,
  more: Partial<AgentOperation> = {},
): AgentOperation {
  return { operation: `${method} /agents/api/v1${below}`, needed, path: `${AGENTS_API}${path}`, ...more };
}

const OF = '/agents/{agent_id}';

/** Every operation on agents that needs a key (see `scopes.test.ts`). */
export const AGENT_OPERATIONS: readonly AgentOperation[] = [
  operation('POST', '/agents', '/agents', 'agents:write', { body: () => NEW_AGENT }),
  operation('GET', '/agents', '/agents', 'agents:read'),
  operation('GET', OF, '/agents/AGENT', 'agents:read'),
  operation('PATCH', OF, '/agents/AGENT', 'agents:write', { body: () => ({ name: `${++made}` }) }),
  operation('POST', `${OF}/onboard`, '/agents/AGENT/onboard', 'agents:write'),
  operation('GET', '/stats/', '/stats/', 'agents:read'),
  operation('POST', `${OF}/actions`, '/agents/AGENT/actions', 'agents:act', { body: () => NEW_ACTION }),
  operation('GET', `${OF}/actions`, '/agents/AGENT/actions', 'agents:read'),
  operation('GET', `${OF}/actions/{action_id}`, '/agents/AGENT/actions/ACTION', 'agents:read'),
  operation('POST', `${OF}/actions/{action_id}/outcome`, '/agents/AGENT/actions/ACTION/outcome', 'agents:act', {
    body: () => ({ outcome: 'succeeded' }),
  }),
  operation('GET', `${OF}/trust-score`, '/agents/AGENT/trust-score', 'agents:read'),
  operation('GET', `${OF}/trust-score/history`, '/agents/AGENT/trust-score/history', 'agents:read'),
  operation('POST', `${OF}/trust-score/simulate`, '/agents/AGENT/trust-score/simulate', 'agents:read', {
    body: () => ({ rules: ['tool_outside'] }),
  }),
  operation('POST', `${OF}/kill-switch`, '/agents/VICTIM/kill-switch', 'agents:write', {
    body: () => ({ mode: 'revoke', reason: 'x' }),
  }),
  operation('GET', `${OF}/kill-switch`, '/agents/STOPPED/kill-switch', 'agents:read'),
  operation('GET', `${OF}/kill-switch/{kill_id}`, '/agents/STOPPED/kill-switch/STOP', 'agents:read'),
  operation('POST', `${OF}/reinstate`, '/agents/SUSPENDED/reinstate', 'agents:write', {
    body: () => ({ reason: 'x' }),
  }),
  operation('GET', '/subscribers', '/subscribers', 'agents:read'),
  operation('POST', '/subscribers', '/subscribers', 'agents:write', {
    body: () => ({ url: 'https://rp.example/events', audience: 'x' }),
  }),
  operation('DELETE', '/subscribers/{subscriber_id}', '/subscribers/SUBSCRIBER', 'agents:write'),
  operation('GET', `${OF}/vault`, '/agents/AGENT/vault', 'agents:act'),
  operation('PUT', `${OF}/vault/secrets/{name}`, '/agents/AGENT/vault/secrets/put', 'agents:act', {
    body: () => ({ value: 'x' }),
  }),
  operation('GET', `${OF}/vault/secrets/{name}`, '/agents/AGENT/vault/secrets/SECRET', 'agents:act'),
  operation('DELETE', `${OF}/vault/secrets/{name}`, '/agents/AGENT/vault/secrets/SECRET', 'agents:act'),
  operation('GET', `${OF}/vault/decoys`, '/agents/AGENT/vault/decoys', 'agents:read'),
  operation('POST', `${OF}/vault/decoys`, '/agents/AGENT/vault/decoys', 'agents:write', {
    given: ['traps:write'],
    body: newTool,
  }),
  operation('DELETE', `${OF}/vault/decoys/{decoy_id}`, '/agents/AGENT/vault/decoys/DECOY', 'agents:write', {
    given: ['traps:write'],
  }),
];

/** Agents of a service, for trying operations. */
export class OperatedAgents {
  readonly #service: Service;
  #agentId = '';
  #stopped = { agent_id: '', kill_id: '' };

  constructor(service: Service) {
    this.#service = service;
  }

  async make(): Promise<void> {
    this.#agentId = await this.#register();
    await this.#call('POST', `/agents/${this.#agentId}/onboard`);
    this.#stopped = await this.#stop(await this.#register());
  }

  /** Returns values for the placeholders of a path. Subjects that a request ends are made for it. */
  async known(path: string): Promise<Record<string, string>> {
    const isOf = (word: string) => path.includes(word);
    const of = `/agents/${this.#agentId}`;
    return {
      AGENT: this.#agentId,
      STOPPED: this.#stopped.agent_id,
      STOP: this.#stopped.kill_id,
      VICTIM: isOf('VICTIM') ? await this.#register() : '',
      SUSPENDED: isOf('SUSPENDED') ? (await this.#stop(await this.#register())).agent_id : '',
      ACTION: isOf('ACTION') ? (await this.#call('POST', `${of}/actions`, NEW_ACTION)).action_id : '',
      DECOY: isOf('DECOY') ? (await this.#call('POST', `${of}/vault/decoys`, newTool())).decoy_id : '',
      SECRET: isOf('SECRET') ? (await this.#call('PUT', `${of}/vault/secrets/kept`, { value: 'x' })).name : '',
      SUBSCRIBER: isOf('SUBSCRIBER') ? await this.#subscriber() : '',
    };
  }

  async #register(): Promise<string> {
    return (await this.#call('POST', '/agents', NEW_AGENT)).agent_id;
  }

  #stop(agentId: string) {
    return this.#call('POST', `/agents/${agentId}/kill-switch`, { mode: 'suspend', reason: 'x' });
  }

  /** Returns an existing subscriber if there is one, because their number is limited. */
  async #subscriber(): Promise<string> {
    const [there] = (await this.#call('GET', '/subscribers')).data;
    const input = { url: 'https://rp.example/events', audience: 'x' };
    return there?.subscriber_id ?? (await this.#call('POST', '/subscribers', input)).subscriber_id;
  }

  async #call(method: string, path: string, body?: unknown) {
    const answer = await this.#service.call(method, `${AGENTS_API}${path}`, body);
    if (answer.status >= 300) throw new Error(answer.text);
    return answer.body;
  }
}
