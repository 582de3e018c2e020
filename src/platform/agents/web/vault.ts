import type { FastifyRequest } from 'fastify';
import { type Markup, markup, name } from '../../../core/html/markup.ts';
import { forWhoMay } from '../../web/asked.ts';
import { action, dataTable, emptyState, momentOr, statusWord } from '../../web/components.ts';
import type { WireAgent } from '../requests/agents.ts';
import type { AgentService } from '../service.ts';
import type { Vaults } from '../vault/vaults.ts';
import { agentPath } from './paths.ts';

type HeldVault = Awaited<ReturnType<Vaults['list']>>;

/** What stands in the vault of an agent, by name: no value is ever shown on a page. */
export async function vaultOf(
  { vault }: AgentService,
  { agent_id, identity, state }: WireAgent,
  now: Date,
  request: FastifyRequest,
): Promise<Markup> {
  const head = markup`<h2>Vault</h2>\n`;
  if (identity === null) return markup`${head}${emptyState('It has none before it is onboarded.')}`;
  const held = await vault.list(agent_id);
  const plant = action(agentPath(agent_id, 'decoy'), 'Plant a decoy', 'quiet');
  return markup`${head}${secretTable(held, now)}${decoyTable(held)}${state === 'revoked' ? null : forWhoMay(request, 'traps:write', () => markup`<p class="acts">${plant}</p>\n`)}`;
}

function secretTable({ secrets }: HeldVault, now: Date): Markup {
  return dataTable({
    caption: 'Secrets in its vault, by name',
    columns: [
      { head: 'Secret', kind: 'name', cell: (row) => name(row.name) },
      { head: 'Version', kind: 'number', cell: ({ version }) => version },
      { head: 'Put', cell: ({ put_at }) => momentOr(put_at, now, 'never') },
      { head: 'Last read', cell: ({ last_taken_at }) => momentOr(last_taken_at, now, 'never') },
    ],
    rows: secrets,
    empty: emptyState('It holds no secret. The agent puts them there with its own key; each access is an entry.'),
  });
}

function decoyTable({ decoys }: HeldVault): Markup | null {
  if (decoys.length === 0) return null;
  return dataTable({
    caption: 'Decoys of this agent',
    columns: [
      { head: 'Decoy', kind: 'name', cell: (row) => name(row.name) },
      { head: 'Kind', cell: ({ kind }) => statusWord('neutral', kind) },
    ],
    rows: decoys,
    empty: emptyState('It has no decoy.'),
  });
}
