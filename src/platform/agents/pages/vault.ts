import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { type Markup, markup, name, name as named } from '../../../core/html/markup.ts';
import { grouped } from '../../../core/plurals.ts';
import { there } from '../../errors.ts';
import { serveOperationAct } from '../../operations/act.ts';
import { serveOperationForm } from '../../operations/form.ts';
import { action, dataTable, emptyState, link, moment, momentOr } from '../../web/components.ts';
import { choices, field } from '../../web/fields.ts';
import { actsFor, section } from '../../web/sections.ts';
import { DECOY_SORTS } from '../enums.ts';
import { decoyOperations, vaultOperations } from '../operations/vault.ts';
import type { AgentService } from '../service.ts';
import type { Vaults } from '../vault/vaults.ts';
import type { WireAgent } from '../wire/agents.ts';
import { newDecoySchema } from '../wire/vault.ts';
import { type AgentPageParts, PROVED } from './parts.ts';
import { AGENTS_API, aboveAgent, agentPath } from './paths.ts';

type HeldVault = Awaited<ReturnType<Vaults['list']>>;

/** Renders the contents of an agent's vault, by name: pages never show a value. */
export async function vaultOf(
  { vault }: AgentService,
  { agent_id, identity, state }: WireAgent,
  now: Date,
  request: FastifyRequest,
): Promise<Markup> {
  if (identity === null) return section('Vault', emptyState('No vault yet. Onboarding creates one.'));
  const held = await vault.list(agent_id);
  const plant = action(agentPath(agent_id, 'decoy'), 'Plant a decoy', 'quiet');
  const acts = state === 'revoked' ? null : actsFor(request, 'traps:write', plant);
  return section('Vault', [secretTable(agent_id, held, now), decoyTable(agent_id, held, now), acts]);
}

/** Renders the secrets, with links to acts; only people who may do these acts see the vault. */
function secretTable(agentId: string, { secrets }: HeldVault, now: Date): Markup {
  return dataTable({
    caption: 'Secrets in the vault, by name',
    columns: [
      { head: 'Secret', kind: 'name', cell: (row) => name(row.name) },
      { head: 'Stored', cell: ({ put_at }) => momentOr(put_at, now, 'never') },
      { head: 'Last read', cell: ({ last_taken_at }) => momentOr(last_taken_at, now, 'never') },
      { head: 'Version', kind: 'number', cell: ({ version }) => grouped(version) },
      {
        head: 'Actions',
        kind: 'act',
        cell: (row) => link(agentPath(agentId, 'secrets', row.name, 'remove'), 'Remove'),
      },
    ],
    rows: secrets,
    empty: emptyState('No secrets yet. The agent stores them with its own API key; each access is recorded.'),
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
        head: 'Actions',
        kind: 'act',
        cell: ({ decoy_id }) => link(agentPath(agentId, 'decoys', decoy_id, 'remove'), 'Remove'),
      },
    ],
    rows: decoys,
    empty: emptyState('No decoys.'),
  });
}

/** Pages that remove a secret or a decoy from a vault, which require a fresh authentication. */
export function vaultActPages(server: FastifyInstance, { service }: AgentPageParts): void {
  const { agents, vault } = service;
  const page = { api: AGENTS_API, access: PROVED };
  serveOperationAct(server, vaultOperations(service).removeAgentSecret, {
    ...page,
    path: '/agents/of/:agent_id/secrets/:name/remove',
    async subject({ agent_id, name }) {
      const { secrets } = await vault.list(agent_id);
      const secret = secrets.find((each) => each.name === name);
      return { agent: await agents.find(agent_id), held: there(secret, 'the vault has no such secret') };
    },
    view: ({ agent, held }) => ({
      ...removalOf(agent),
      title: `Remove the secret ${held.name}`,
      introduction: markup`${named(agent.name)} can no longer read the secret, and it cannot be restored. Its leases end. Values that were handed out cannot be recalled: change the secret where it is used.`,
      submit: 'Remove',
    }),
    notice: () => 'The secret is removed.',
  });
  serveOperationAct(server, decoyOperations(service).removeAgentDecoy, {
    ...page,
    path: '/agents/of/:agent_id/decoys/:decoy_id/remove',
    async subject({ agent_id, decoy_id }) {
      const { decoys } = await vault.list(agent_id);
      const decoy = decoys.find((each) => each.decoy_id === decoy_id);
      return { agent: await agents.find(agent_id), held: there(decoy, 'the vault has no such decoy') };
    },
    view: ({ agent, held }) => ({
      ...removalOf(agent),
      title: `Remove the decoy ${held.name}`,
      introduction: markup`${named(agent.name)} can no longer find the decoy, so no use of it is detected here. Its trap remains active and detects uses elsewhere.`,
      submit: 'Remove',
    }),
    notice: () => 'The decoy is removed.',
  });
}

function removalOf(agent: WireAgent) {
  return { above: aboveAgent(agent), isFinal: true, back: agentPath(agent.agent_id) };
}

const schema = z
  .object({ kind: z.enum(DECOY_SORTS), name: z.string().trim().min(1, 'Enter a name') })
  .pipe(newDecoySchema);

const KINDS = [
  { value: 'secret', label: 'A secret', hint: 'in the vault, next to the real ones; reading it is detected' },
  { value: 'tool', label: 'A tool', hint: 'that the agent has no reason to use; an action that names it is detected' },
];

/** Serves the form for a decoy: a secret or a tool that no task requires. */
export function decoyPage(server: FastifyInstance, { service }: AgentPageParts): void {
  serveOperationForm(server, decoyOperations(service).addAgentDecoy, {
    path: '/agents/of/:agent_id/decoy',
    api: AGENTS_API,
    schema,
    subject: ({ agent_id }) => service.agents.find(agent_id),
    view({ form }, agent) {
      const values = { kind: 'secret', ...form.values };
      return {
        title: `Plant a decoy for ${agent.name}`,
        isNarrow: true,
        above: aboveAgent(agent),
        introduction:
          'Using the decoy is a detection of the trap service, raises an alert and costs the agent 30 points. Give it an attractive name.',
        fields: [
          field(form, { name: 'name', label: 'Name', autocomplete: 'off', isFirst: true }),
          choices({ ...form, values }, { name: 'kind', label: 'What', type: 'radio' }, KINDS),
        ],
        submit: 'Plant',
      };
    },
    example: () => ({ name: 'prod-db-password', kind: 'secret' }),
    done: (_decoy, { agent_id }) => ({ notice: 'The decoy is planted.', next: agentPath(agent_id) }),
  });
}
