import type { FastifyBaseLogger } from 'fastify';
import type { AccountTables } from '../../../src/platform/accounts/tables.ts';
import { findAgent } from '../../../src/platform/agents/agent-rows.ts';
import { decoyWatches } from '../../../src/platform/agents/api.ts';
import type { AgentServiceDeps } from '../../../src/platform/agents/deps.ts';
import { boundToAgent } from '../../../src/platform/agents/entries.ts';
import { streamOfAgent } from '../../../src/platform/agents/enums.ts';
import { OwnQuestions } from '../../../src/platform/agents/kill/asking.ts';
import { type AgentService, assembleAgents, type OpenAgents } from '../../../src/platform/agents/service.ts';
import { TRUST_TIMES } from '../../../src/platform/agents/settings.ts';
import type { AgentTables } from '../../../src/platform/agents/tables.ts';
import { TrustWriter } from '../../../src/platform/agents/trust/families.ts';
import { agentRegistrationSchema } from '../../../src/platform/agents/wire/agents.ts';
import type { AuditTables } from '../../../src/platform/audit/tables.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import { SecretBox } from '../../../src/platform/secrets.ts';
import { NO_AWS } from '../../../src/platform/traps/aws/settings.ts';
import { assembleTraps, type TrapService } from '../../../src/platform/traps/service.ts';
import type { DatabasePlace } from '../database/databases.ts';
import { SOMEBODY, World } from '../world.ts';

export const DAY_MS = 24 * 60 * 60_000;

/** Default registration of an agent. */
export const AGENT = {
  name: 'agent',
  agent_type: 'supervised',
  model: 'model-a',
  version: '1.0.0',
  allowed_tools: ['search'],
  allowed_apis: ['api.example.com'],
} as const;

/** Service of agents in a world. */
export class AgentPlace extends World {
  readonly deps: AgentServiceDeps;
  readonly open: OpenAgents;
  /** Box for the platform's own keys. */
  readonly authorityBox: SecretBox;
  /** Traps, including those in vaults. */
  readonly traps: TrapService;
  readonly trust: TrustWriter;
  #databases: DatabasePlace | null = null;

  /** Creates a database, which `close` ends. */
  static async start(start: () => Promise<DatabasePlace>): Promise<AgentPlace> {
    const databases = await start();
    const { database } = await databases.createMigrated();
    const place = new AgentPlace(database);
    place.#databases = databases;
    await place.open.start();
    return place;
  }

  constructor(database: Database, platformKey?: Uint8Array) {
    super(database, platformKey);
    const { clock, log, administration, outbox, masterKey } = this;
    this.deps = {
      database,
      clock,
      log,
      administration,
      outbox,
      alerts: this.sender,
      publicUrl: () => 'https://platform.example.com',
      outgoingHosts: [],
      trustTimes: TRUST_TIMES,
    };
    this.authorityBox = new SecretBox(masterKey, 'agents/authorities');
    this.traps = assembleTraps({
      ...this.deps,
      masterKey,
      decoys: [],
      aws: NO_AWS,
      // No decoy listens, so no decoy writes files or logs.
      folder: '',
      serverLog: {} as FastifyBaseLogger,
      watches: () => decoyWatches(database),
      useDecoy: (credentialId, userAgent) => this.service.vault.useDecoy(credentialId, userAgent),
    });
    this.open = assembleAgents(this.deps, {
      authorityBox: this.authorityBox,
      vaultBox: new SecretBox(masterKey, 'agents/vaults'),
      vaultTraps: this.traps.vaultTraps,
      ownQuestions: new OwnQuestions(new SecretBox(masterKey, 'agents/own-questions'), clock),
      askPublic: (agentId) => this.isValid(agentId),
    });
    this.trust = new TrustWriter(this.deps, { suspendPassport: async () => null });
  }

  get service(): AgentService {
    return this.open.service;
  }

  /** Returns the public verdict on an agent. */
  async isValid(agentId: string): Promise<boolean> {
    return (await this.service.public.verify(agentId)).valid;
  }

  async close(): Promise<void> {
    await this.open.settled();
    await this.#databases?.close();
  }

  /** Registers an agent. @returns its id. */
  async registered(more: object = {}): Promise<string> {
    const input = agentRegistrationSchema.parse({ ...AGENT, ...more });
    return (await this.service.agents.register(SOMEBODY, input, undefined)).agent_id;
  }

  /** Registers and activates an agent. @returns its id. */
  async onboarded(more: object = {}): Promise<string> {
    const agentId = await this.registered(more);
    await this.service.onboarding.onboard(SOMEBODY, agentId, undefined);
    return agentId;
  }

  /** Returns the entries of an agent's stream, oldest first. */
  async entries(agentId: string) {
    return (await this.deps.log.newest(this.database, streamOfAgent(agentId), { limit: 10_000 })).reverse();
  }

  /** Changes the row of an agent's stream, as an attacker with database access would. */
  async damageStream(agentId: string): Promise<void> {
    await this.database.write(async (transaction) => {
      const streams = transaction.tables<AuditTables>().updateTable('streams').set({ entry_count: 1 });
      await streams.where('stream_id', '=', streamOfAgent(agentId)).execute();
    });
  }

  /** Returns the API keys that are bound to an agent. */
  keysOf(agentId: string) {
    const keys = this.database.tables<AccountTables>().selectFrom('api_keys').selectAll();
    return keys.where('bound_to', '=', boundToAgent(agentId)).execute();
  }

  /** Returns the states of an agent's passports, oldest first. */
  async passportsOf(agentId: string) {
    const rows = await this.#identitiesOf(agentId);
    return rows.map(({ passport_status }) => passport_status);
  }

  /** Returns an agent's rows in the revocation lists. */
  async revocationsOf(agentId: string) {
    const numbers = (await this.#identitiesOf(agentId)).map(({ identity_no }) => identity_no);
    const revocations = this.database.tables<AgentTables>().selectFrom('agent_revocations').selectAll();
    return revocations.where('identity_no', 'in', numbers).execute();
  }

  /** Raises an agent's score: advances the clock and notes points day by day. */
  async raiseTo(agentId: string, score: number): Promise<void> {
    this.now += (TRUST_TIMES.trustedAfterDays + 1) * DAY_MS;
    while ((await this.service.agents.find(agentId)).score < score) {
      for (let point = 0; point < 5; point++) await this.#earn(agentId);
      this.now += DAY_MS;
    }
  }

  async #earn(agentId: string): Promise<void> {
    const note = { rule: 'attested_action' } as const;
    await this.database.write(async (transaction) => {
      await this.trust.note(transaction, agentId, note);
    });
  }

  async #identitiesOf(agentId: string) {
    const { agent_no } = await findAgent(this.database, agentId);
    const identities = this.database.tables<AgentTables>().selectFrom('agent_identities').selectAll();
    return identities.where('agent_no', '=', agent_no).orderBy('issue_no').execute();
  }

  async actionsOf(agentId: string): Promise<string[]> {
    return (await this.entries(agentId)).map(({ action }) => action);
  }
}
