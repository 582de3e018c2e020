import type { FastifyRequest } from 'fastify';
import { type Markup, markup, name } from '../../../core/html/markup.ts';
import { grouped } from '../../../core/plurals.ts';
import { forWhoMay } from '../../web/asked.ts';
import { action, dataTable, emptyState, link, moment, momentOr } from '../../web/components.ts';
import type { AgentService } from '../service.ts';
import type { Vaults } from '../vault/vaults.ts';
import type { WireAgent } from '../wire/agents.ts';
import { agentPath } from './paths.ts';

type HeldVault = Awaited<ReturnType<Vaults['list']>>;

/** The contents of an agent's vault, by name: no value is ever shown on a page. */
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
  return markup`${head}${secretTable(agent_id, held, now)}${decoyTable(agent_id, held, now)}${state === 'revoked' ? null : forWhoMay(request, 'traps:write', () => markup`<p class="acts">${plant}</p>\n`)}`;
}

/** Only who may do it sees the vault. */
function secretTable(agentId: string, { secrets }: HeldVault, now: Date): Markup {
  return dataTable({
    caption: 'Secrets in its vault, by name',
    columns: [
      { head: 'Secret', kind: 'name', cell: (row) => name(row.name) },
      { head: 'Put', cell: ({ put_at }) => momentOr(put_at, now, 'never') },
      { head: 'Last read', cell: ({ last_taken_at }) => momentOr(last_taken_at, now, 'never') },
      { head: 'Version', kind: 'number', cell: ({ version }) => grouped(version) },
      {
        head: 'What can be done',
        kind: 'act',
        cell: (row) => link(agentPath(agentId, 'secrets', row.name, 'remove'), 'Remove'),
      },
    ],
    rows: secrets,
    empty: emptyState('It holds no secret. The agent puts them there with its own key; each access is an entry.'),
  });
}

function decoyTable(agentId: string, { decoys }: HeldVault, now: Date): Markup | null {
  if (decoys.length === 0) return null;
  return dataTable({
    caption: 'Decoys of this agent',
    columns: [
      { head: 'Decoy', kind: 'name', cell: (row) => name(row.name) },
      { head: 'Kind', cell: ({ kind }) => kind },
      { head: 'Planted', cell: ({ made_at }) => moment(made_at, now) },
      {
        head: 'What can be done',
        kind: 'act',
        cell: ({ decoy_id }) => link(agentPath(agentId, 'decoys', decoy_id, 'remove'), 'Take out'),
      },
    ],
    rows: decoys,
    empty: emptyState('It has no decoy.'),
  });
}
