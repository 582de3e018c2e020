import { createPrivateKey, randomUUID, sign } from 'node:crypto';
import { canonicalize, type Json } from '../../../src/core/json/canonical.ts';
import { type Answer, call, type Service } from '../service.ts';

/** Access to a running platform. */
export type Answering = Pick<Service, 'call' | 'origin'>;

export const AGENTS = '//agents/api/v1/agents';

/** An action as the agent reports it. */
interface Doing {
  action_type?: string;
  action_description?: string;
  tool_used?: string;
  api_called?: string;
  [more: string]: Json | undefined;
}

/** Registers an agent. @returns its id. */
export async function register(service: Answering, more: object = {}): Promise<string> {
  const input = {
    name: 'Invoice reader',
    agent_type: 'supervised',
    model: 'a-model',
    version: '1.0.0',
    allowed_tools: ['read_file'],
    allowed_apis: ['api.example.com'],
  };
  return answered(await service.call('POST', AGENTS, { ...input, ...more }), 201).agent_id;
}

/** Registers and onboards an agent. */
export async function onboarded(service: Answering, more: object = {}): Promise<HttpAgent> {
  const id = await register(service, more);
  return new HttpAgent(service, id, answered(await service.call('POST', `${AGENTS}/${id}/onboard`), 200, 201));
}

/** An agent that reports over HTTP, with the keys from its onboarding. */
export class HttpAgent {
  readonly service: Answering;
  readonly id: string;
  readonly apiKey: string;
  readonly #privateKey: string;

  constructor(
    service: Answering,
    id: string,
    shown: { api_key: string; quantum_identity: { private_keys_once: object } },
  ) {
    this.service = service;
    this.id = id;
    this.apiKey = shown.api_key;
    this.#privateKey = (shown.quantum_identity.private_keys_once as { ed25519: string }).ed25519;
  }

  send(method: string, below: string, body?: unknown): Promise<Answer> {
    const url = `${this.service.origin}/agents/api/v1/agents/${this.id}`;
    return call(url, this.apiKey, method, below, body);
  }

  /** Reports an action signed with the agent's key. */
  async did(doing: Doing = {}) {
    return answered(await this.send('POST', '/actions', this.attested(doing)), 201);
  }

  /** Returns an action signed with the agent's key. */
  attested(doing: Doing = {}) {
    const content = {
      action_type: 'tool_call',
      action_description: 'read an invoice',
      tool_used: 'read_file',
      ...doing,
    };
    const signed = { action_id: randomUUID(), signed_at: new Date().toISOString() };
    const text = canonicalize({ format: 'evidence-agent-action/1', agent_id: this.id, ...signed, ...content } as Json);
    const signature = sign(null, Buffer.from(text), createPrivateKey(this.#privateKey)).toString('base64url');
    return { ...content, attestation: { ...signed, algorithm: 'EdDSA', signature } };
  }

  /** Reports an unsigned action. */
  async said(doing: Doing = {}) {
    const content = { action_type: 'tool_call', action_description: 'read an invoice', ...doing };
    return answered(await this.send('POST', '/actions', content), 201);
  }
}

/** Returns the body of an answer with one of these statuses. */
export function answered({ status, text, body }: Answer, ...wanted: readonly number[]): Answer['body'] {
  if (!wanted.includes(status)) throw new Error(`${status} ${text}`);
  return body;
}
