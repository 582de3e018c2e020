import { execFileSync } from 'node:child_process';
import { boundToAgent } from '../../../src/platform/agents/entries.ts';
import { newDecoySchema } from '../../../src/platform/agents/wire/vault.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import { migrateAll } from '../../../src/platform/migrations.ts';
import { detectionQuerySchema } from '../../../src/platform/traps/wire.ts';
import { SOMEBODY } from '../world.ts';
import { AgentPlace } from './agent-place.ts';

const MOST = 2 ** 28;
/** A key that is bound to no agent. */
export const OWN_KEY = { kind: 'key', id: 'k1' } as const;

/** Principal of the key from an agent's onboarding. */
export function keyOf(agentId: string) {
  return { kind: 'key', id: 'k2', boundTo: boundToAgent(agentId) } as const;
}

/** Agents' vaults with traps, on a database, with an adjustable clock. */
export class VaultPlace extends AgentPlace {
  /** @param masterKey of another process of the same platform. */
  static async at(database: Database, masterKey?: Uint8Array): Promise<VaultPlace> {
    await migrateAll(database);
    const place = new VaultPlace(database, masterKey);
    await place.open.start();
    return place;
  }

  get vaults() {
    return this.service.vault;
  }

  decoy(agentId: string, input: object) {
    return this.vaults.addDecoy(SOMEBODY, agentId, newDecoySchema.parse(input));
  }

  /** Returns the entries about an agent's vault, oldest first. */
  async accesses(agentId: string) {
    return (await this.entries(agentId)).filter(({ action }) => action.startsWith('vault.'));
  }

  async detections() {
    return (await this.traps.detections.list(detectionQuerySchema.parse({ limit: 500 }))).data;
  }

  /** Returns everything that the database reveals: its files, or pg_dump's output. */
  dump(): Buffer {
    const { address } = this.database;
    if ('file' in address) return execFileSync('sh', ['-c', 'cat "$0" "$0"-wal', address.file], { maxBuffer: MOST });
    const psql = (input: string) =>
      execFileSync('psql', ['--no-psqlrc', '-qAt', '-v', 'ON_ERROR_STOP=1', address.url], { input, maxBuffer: MOST });
    const tables = psql("SELECT format('COPY %I TO STDOUT;', tablename) FROM pg_tables WHERE schemaname = 'public'");
    return psql(tables.toString());
  }
}
