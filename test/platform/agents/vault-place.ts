import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyBaseLogger } from 'fastify';
import { byCommand } from '../../../src/platform/accounts/administration.ts';
import { recordIn } from '../../../src/platform/administration/record.ts';
import { lockAgent } from '../../../src/platform/agents/agent-rows.ts';
import { Agents } from '../../../src/platform/agents/agents.ts';
import { boundToAgent } from '../../../src/platform/agents/binding.ts';
import type { AgentServiceMeans } from '../../../src/platform/agents/means.ts';
import { agentRegistrationSchema } from '../../../src/platform/agents/requests/agents.ts';
import { newDecoySchema } from '../../../src/platform/agents/requests/vault.ts';
import type { AgentTables } from '../../../src/platform/agents/schema.ts';
import { TRUST_TIMES } from '../../../src/platform/agents/settings.ts';
import { TrustDesk } from '../../../src/platform/agents/trust/desk.ts';
import { Vaults } from '../../../src/platform/agents/vault/vaults.ts';
import { streamOfAgent } from '../../../src/platform/agents/words.ts';
import type { Alert } from '../../../src/platform/alerts/api.ts';
import { openAuditLog } from '../../../src/platform/audit/api.ts';
import { RowSeals } from '../../../src/platform/audit/row-seals.ts';
import { DerivedSealKeys } from '../../../src/platform/audit/seal-keys.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import { Outbox } from '../../../src/platform/jobs/outbox.ts';
import { migrateAll } from '../../../src/platform/migrations.ts';
import { SecretBox } from '../../../src/platform/secrets.ts';
import { NO_AWS } from '../../../src/platform/traps/aws/settings.ts';
import { detectionQuerySchema } from '../../../src/platform/traps/requests.ts';
import { assembleTraps, type TrapService } from '../../../src/platform/traps/service.ts';

const MOST = 2 ** 28;
export const OWNER = byCommand('test');
/** A key that is bound to nothing. */
export const OWN_KEY = { kind: 'key', id: 'k1' } as const;

/** The key that an agent got when it was onboarded. */
export function keyOf(agentId: string) {
  return { kind: 'key', id: 'k2', boundTo: boundToAgent(agentId) } as const;
}

/** Vaults of agents and the traps in them, on a database, with a clock to be set. */
export class VaultPlace {
  readonly database: Database;
  readonly means: AgentServiceMeans;
  readonly agents: Agents;
  readonly trust: TrustDesk;
  readonly vaults: Vaults;
  readonly traps: TrapService;
  readonly alerts: Alert[] = [];
  now = Date.parse('2026-11-22T00:00:00Z');

  private constructor(database: Database, masterKey: Uint8Array) {
    this.database = database;
    const clock = () => new Date(this.now);
    const keys = new DerivedSealKeys(masterKey);
    const log = openAuditLog({ keys, seals: new RowSeals(keys.ofRows()), clock });
    const alerts = {
      tell: async (_transaction: unknown, alert: Alert) => {
        this.alerts.push(alert);
        return 'pending' as const;
      },
    };
    const publicUrl = () => 'https://evidence.example';
    this.traps = assembleTraps({
      ...{ database, clock, log, masterKey, publicUrl, aws: NO_AWS, decoys: [] },
      alerts,
      folder: mkdtempSync(join(tmpdir(), 'vaults-')),
      // Nothing is served that could log.
      serverLog: {} as FastifyBaseLogger,
    });
    this.means = {
      ...{ database, clock, log, alerts, publicUrl, administration: recordIn(log) },
      ...{ outbox: new Outbox(database, clock), outgoingHosts: [], trustTimes: TRUST_TIMES },
    };
    this.trust = new TrustDesk(this.means, { suspendPassport: async () => null });
    this.agents = new Agents(this.means, { trust: this.trust, issuer: { suspendPassport: async () => null } });
    this.vaults = new Vaults(this.means, new SecretBox(masterKey, 'agents/vaults'), this.trust, this.traps.vaultTraps);
  }

  /** @param masterKey of another process of the same platform. */
  static async open(database: Database, masterKey: Uint8Array = randomBytes(32)): Promise<VaultPlace> {
    await migrateAll(database);
    return new VaultPlace(database, masterKey);
  }

  /** An agent that has its vault. @returns its id. */
  async agent(more: object = {}): Promise<string> {
    const wish = agentRegistrationSchema.parse({
      ...{ name: 'an agent', agent_type: 'supervised', model: 'm', version: '1.0', allowed_tools: ['search'], ...more },
    });
    const { agent_id } = await this.agents.register(OWNER, wish, undefined);
    await this.database.write(async (transaction) => {
      await this.vaults.open(transaction, await lockAgent(transaction, agent_id));
      await this.trust.note(transaction, agent_id, { rule: 'onboarded' });
    });
    await this.become(agent_id, 'active');
    return agent_id;
  }

  async become(agentId: string, state: 'active' | 'suspended' | 'revoked'): Promise<void> {
    await this.database.write((transaction) =>
      transaction.tables<AgentTables>().updateTable('agents').set({ state }).where('agent_id', '=', agentId).execute(),
    );
  }

  decoy(agentId: string, wish: object) {
    return this.vaults.addDecoy(OWNER, agentId, newDecoySchema.parse(wish));
  }

  /** What the stream of an agent says of its vault, oldest first. */
  async entries(agentId: string) {
    const all = await this.means.log.newest(this.database, streamOfAgent(agentId), { limit: 1000 });
    return all.reverse().filter(({ action }) => action.startsWith('vault.'));
  }

  async detections() {
    return (await this.traps.detections.list(detectionQuerySchema.parse({ limit: 500 }))).data;
  }

  /** All that somebody sees who has the database and nothing else: its files, or what pg_dump writes of its tables. */
  dump(): Buffer {
    const { address } = this.database;
    if ('file' in address) return execFileSync('sh', ['-c', 'cat "$0" "$0"-wal', address.file], { maxBuffer: MOST });
    const psql = (input: string) =>
      execFileSync('psql', ['--no-psqlrc', '-qAt', '-v', 'ON_ERROR_STOP=1', address.url], { input, maxBuffer: MOST });
    const tables = psql("SELECT format('COPY %I TO STDOUT;', tablename) FROM pg_tables WHERE schemaname = 'public'");
    return psql(tables.toString());
  }
}
