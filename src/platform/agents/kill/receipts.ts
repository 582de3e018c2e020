import type { Reader } from '../../database/database.ts';
import type { AgentTables } from '../tables.ts';
import type { WireKill } from '../wire/kill.ts';
import { type Kill, type StepRow, stepsOfKills } from './kill-rows.ts';
import { deliveriesOfKills } from './security-events.ts';

/** The receipts of some kills, in their order. */
export async function receiptsOf(reader: Reader, kills: readonly Kill[]): Promise<WireKill[]> {
  const killNos = kills.map(({ kill_no }) => kill_no);
  const steps = Map.groupBy(await stepsOfKills(reader, killNos), ({ kill_no }) => kill_no);
  const deliveries = Map.groupBy(await deliveriesOfKills(reader, killNos), ({ kill_no }) => kill_no);
  const agentIds = await agentIdsOf(reader, kills);
  return kills.map(({ kill_no, agent_no, flipped_after_ms, claimed_by: _, claimed_until: __, ...kill }) => {
    const own = steps.get(kill_no) ?? [];
    return {
      ...kill,
      agent_id: agentIds.get(agent_no) ?? '',
      public_verification_flipped_after_ms: flipped_after_ms,
      agents: agentsOf(own),
      deliveries: (deliveries.get(kill_no) ?? []).map(({ kill_no: _, ...delivery }) => delivery),
      message: messageOf(kill.finished_at, own),
    };
  });
}

async function agentIdsOf(reader: Reader, kills: readonly Kill[]): Promise<Map<number, string>> {
  const nos = [...new Set(kills.map(({ agent_no }) => agent_no))];
  if (nos.length === 0) return new Map();
  const agents = reader.tables<AgentTables>().selectFrom('agents').select(['agent_no', 'agent_id']);
  const rows = await agents.where('agent_no', 'in', nos).execute();
  return new Map(rows.map(({ agent_no, agent_id }) => [agent_no, agent_id]));
}

/** In the order in which steps are done to them: children first. */
function agentsOf(steps: readonly StepRow[]): WireKill['agents'] {
  const byAgent = Map.groupBy(steps, ({ agent_id }) => agent_id);
  return [...byAgent].map(([agent_id, own]) => ({
    agent_id,
    name: own[0]?.name ?? '',
    steps: own.map(({ step, started_at, ended_at, deadline_ms, result, detail }) => ({
      step,
      started_at,
      ended_at,
      deadline_ms,
      result,
      detail,
    })),
  }));
}

function messageOf(finishedAt: string | null, steps: readonly StepRow[]): string {
  const count = (wanted: StepRow['result']) => steps.filter(({ result }) => result === wanted).length;
  const [failed, left] = [count('failed'), count(null)];
  const parts = [
    finishedAt === null ? `${left} steps are left; they are done also after a restart.` : '',
    failed > 0 ? `${failed} steps failed: read why, and use the kill switch again; what is done stays done.` : '',
    `${count('completed')} steps were completed.`,
    'Linked IAM apps were not disabled and vaults were not locked: neither is available.',
  ];
  return parts.filter((part) => part !== '').join(' ');
}
