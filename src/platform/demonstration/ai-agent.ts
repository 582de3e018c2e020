import { createPrivateKey, type KeyObject, randomUUID, sign } from 'node:crypto';
import { attestedText } from '../agents/actions/report.ts';
import type { ActionContent, LoggedAction } from '../agents/wire/actions.ts';
import type { AgentVerification, Onboarded } from '../agents/wire/agents.ts';
import type { WireKill } from '../agents/wire/kill.ts';
import type { PlatformCaller } from './caller.ts';

const AGENTS = '/agents/api/v1';

/** Tools and APIs that the agent may use. */
const ALLOWANCE = { allowed_tools: ['read_invoice'], allowed_apis: ['erp.example.com'] };

/** AI agent with an identity, which signs its reports. */
export class AiAgent {
  readonly #admin: PlatformCaller;
  readonly #own: PlatformCaller;
  readonly #key: KeyObject;
  readonly id: string;

  private constructor(admin: PlatformCaller, { agent_id, api_key, quantum_identity }: Onboarded) {
    this.#admin = admin;
    this.#own = admin.as(api_key);
    this.#key = createPrivateKey(quantum_identity.private_keys_once['ed25519'] ?? '');
    this.id = agent_id;
  }

  static async onboard(admin: PlatformCaller): Promise<AiAgent> {
    const registration = { name: 'Invoice reader', agent_type: 'supervised', model: 'example-1', version: '1.0.0' };
    const { agent_id } = await admin.post<{ agent_id: string }>(`${AGENTS}/agents`, { ...registration, ...ALLOWANCE });
    return new AiAgent(admin, await admin.post<Onboarded>(`${AGENTS}/agents/${agent_id}/onboard`, {}));
  }

  /** Reports an action signed with the agent's key. */
  act(content: ActionContent): Promise<LoggedAction> {
    return this.#own.post<LoggedAction>(this.#actions, this.#signed(content));
  }

  /** @returns the status of the answer to an action. */
  attempt(content: ActionContent): Promise<number> {
    return this.#own.statusOf(this.#actions, this.#signed(content));
  }

  /** Revokes the agent permanently. */
  kill(reason: string): Promise<WireKill> {
    return this.#admin.post<WireKill>(`${AGENTS}/agents/${this.id}/kill-switch`, { mode: 'revoke', reason });
  }

  /** Returns the public facts about the agent. */
  publicly(): Promise<AgentVerification> {
    return this.#admin.as(null).get<AgentVerification>(`${AGENTS}/public/verify-agent/${this.id}`);
  }

  get #actions(): string {
    return `${AGENTS}/agents/${this.id}/actions`;
  }

  #signed(content: ActionContent): object {
    const said = { action_id: randomUUID(), signed_at: new Date().toISOString() };
    const signature = sign(null, Buffer.from(attestedText(this.id, said, content)), this.#key).toString('base64url');
    return { ...content, attestation: { ...said, algorithm: 'EdDSA', signature } };
  }
}
