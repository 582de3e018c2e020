import { randomBytes, randomUUID } from 'node:crypto';
import { type Agent, changeAgent, compositionDigest, findAgent } from '../../../../src/platform/agents/agent-rows.ts';
import type { AgentStateName } from '../../../../src/platform/agents/enums.ts';
import { Issuer } from '../../../../src/platform/agents/identity/issuer.ts';
import type { AgentTables } from '../../../../src/platform/agents/tables.ts';
import type { Database } from '../../../../src/platform/database/database.ts';
import { SecretBox } from '../../../../src/platform/secrets.ts';
import { type DatabasePlace, startSqlitePlace } from '../../database/databases.ts';

export const DAY = 86_400_000;

/** An issuer on a database, with an adjustable clock. */
export class IssuingPlace {
  readonly database: Database;
  readonly issuer: Issuer;
  now = Date.parse('2026-11-22T12:00:00Z');
  publicUrl = 'https://platform.example';
  readonly #masterKey: Buffer;
  #databases: DatabasePlace | null = null;

  /** Creates a database, which `close` ends. */
  static async open(start = startSqlitePlace): Promise<IssuingPlace> {
    const databases = await start();
    const place = await IssuingPlace.among(databases);
    place.#databases = databases;
    return place;
  }

  /** Creates the place on a further database of these. */
  static async among(databases: DatabasePlace): Promise<IssuingPlace> {
    const { database } = await databases.createMigrated();
    const place = new IssuingPlace(database);
    await place.issuer.start();
    return place;
  }

  constructor(database: Database, masterKey: Buffer = randomBytes(32)) {
    this.database = database;
    this.#masterKey = masterKey;
    this.issuer = this.issuerWith(masterKey);
  }

  /** Returns the issuer of another process. */
  issuerWith(masterKey: Buffer = this.#masterKey): Issuer {
    const deps = { database: this.database, clock: () => new Date(this.now), publicUrl: () => this.publicUrl };
    return new Issuer(deps, new SecretBox(masterKey, 'agents/authorities'));
  }

  async close(): Promise<void> {
    await this.#databases?.close();
  }

  /** Creates an agent that is not onboarded. */
  async agent(name = 'Invoice reader'): Promise<Agent> {
    const agent_id = randomUUID();
    const made = { model: 'gpt-5', version: '1.2.0', allowed_tools: ['read_invoice'], allowed_apis: ['api.example'] };
    const time = new Date(this.now).toISOString();
    await this.database.write(async (transaction) => {
      const row = {
        agent_id,
        name,
        agent_type: 'supervised' as const,
        model: made.model,
        version: made.version,
        allowed_tools: JSON.stringify(made.allowed_tools),
        allowed_apis: JSON.stringify(made.allowed_apis),
        prompt_sha256: null,
        composition: compositionDigest({ ...made, prompt_sha256: null }),
        composition_changed_at: null,
        parent_agent_id: null,
        root_agent_id: agent_id,
        state: 'active' as const,
        suspended_because: null,
        state_changed_at: time,
        registered_at: time,
        registered_by: 'test',
        onboarded_at: null,
        trusted_since: null,
        score: 50,
        tier: 'MONITOR' as const,
        ledger_length: 0,
        attested_at: null,
        attested_day: null,
        attested_points: 0,
        due_at: null,
        actions: 0,
      };
      await transaction.tables<AgentTables>().insertInto('agents').values(row).execute();
    });
    return findAgent(this.database, agent_id);
  }

  issue(agent: Agent) {
    return this.database.write((transaction) => this.issuer.issue(transaction, agent, 'key'));
  }

  /** Creates an agent and issues its identity. */
  async issued(name?: string) {
    const agent = await this.agent(name);
    return { agent, identity: await this.issue(agent) };
  }

  async setState({ agent_no }: Agent, state: AgentStateName): Promise<void> {
    const change = { state, state_changed_at: new Date(this.now).toISOString() };
    await this.database.write((transaction) => changeAgent(transaction, { agent_no }, change));
  }
}
