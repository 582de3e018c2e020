import { messageOf } from '../../../core/errors.ts';
import type { Database } from '../../database/database.ts';
import type { Job } from '../../jobs/scheduler.ts';
import { noteReport, type Trap } from '../repository.ts';
import type { TrapTables } from '../tables.ts';
import type { Uses } from '../uses.ts';
import type { TrapVault } from '../vault.ts';
import type { Iam, LastUse } from './iam.ts';
import { isToldByCloudTrail, lastUseId } from './one-use.ts';

const EVERY_MS = 10 * 60_000;

export interface LastUsedDeps {
  database: Database;
  vault: TrapVault;
  uses: Uses;
  iam: Iam;
  clock: () => Date;
}

/** Asks IAM when real keys were last used: it knows of uses that CloudTrail does not log. */
export function lastUsedJob(deps: LastUsedDeps): Job {
  return { name: 'traps/aws-last-used', everyMs: EVERY_MS, atMostMs: EVERY_MS, run: () => askForLastUses(deps) };
}

/** @throws Error naming how many keys could not be asked for; the others were. */
export async function askForLastUses(deps: LastUsedDeps): Promise<void> {
  const { database, vault, iam, clock } = deps;
  const traps = await realKeys(database);
  const failures: string[] = [];
  for (const trap of traps) {
    const accessKeyId = vault.open(trap).credential['access_key_id'];
    try {
      await record(trap, await iam.lastUse(String(accessKeyId)), deps);
    } catch (error) {
      failures.push(`${accessKeyId}: ${messageOf(error)}`);
    }
  }
  if (failures.length < traps.length) await noteReport(database, 'aws_last_used', clock());
  if (failures.length > 0)
    throw new Error(`${failures.length} of ${traps.length} keys could not be asked for: ${failures[0]}`);
}

/** Those that AWS knows, ended or not: whoever ended one here did not end it there. */
async function realKeys(database: Database): Promise<Trap[]> {
  const traps = database.tables<TrapTables>().selectFrom('traps').selectAll();
  const keys = traps.where('credential_type', '=', 'aws_key').where('origin', 'in', ['imported', 'provisioned']);
  return await keys.orderBy('trap_no').execute();
}

async function record(trap: Trap, { at, service, region }: LastUse, deps: LastUsedDeps): Promise<void> {
  // A use before the trap existed is nobody's use of it.
  if (at === null || at <= trap.created_at) return;
  if (await isToldByCloudTrail(deps.database, trap, { at, service, region })) return;
  await deps.uses.record({
    trapNo: trap.trap_no,
    channel: 'aws_last_used',
    depth: 'used',
    eventTime: at,
    sourceEventId: lastUseId(trap.credential_id, at),
    sourceIp: null,
    userAgent: null,
    action: null,
    service,
    region,
    authVerified: true,
    request: JSON.stringify({ last_used: at, service, region }),
  });
}
