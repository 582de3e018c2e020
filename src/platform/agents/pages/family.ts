import { type Markup, markup } from '../../../core/html/markup.ts';
import { dataTable, emptyState, link, statusWord } from '../../web/components.ts';
import type { AgentService } from '../service.ts';
import type { WireAgent } from '../wire/agents.ts';
import { STATE_WORDS, trustWord } from './labels.ts';
import { agentPath } from './paths.ts';

/** The agent that delegates to an agent, and those that it delegates to; nothing where it stands alone. */
export async function familyOf({ agents }: AgentService, agent: WireAgent): Promise<Markup | null> {
  const { parent_agent_id, children } = agent;
  if (parent_agent_id === null && children.length === 0) return null;
  const parent = parent_agent_id === null ? null : await agents.find(parent_agent_id);
  return markup`<h2>Delegation</h2>
${parent === null ? null : markup`<p>${link(agentPath(parent.agent_id), parent.name)} delegates to it: its score is never above the score of that agent, which is ${parent.score}.</p>\n`}${childTable(children)}`;
}

function childTable(children: WireAgent['children']): Markup | null {
  if (children.length === 0) return null;
  return dataTable<WireAgent['children'][number]>({
    caption: 'Agents that it delegates to',
    columns: [
      { head: 'Delegates to', kind: 'name', cell: ({ agent_id, name }) => link(agentPath(agent_id), name) },
      { head: 'Status', cell: ({ state }) => statusWord(...STATE_WORDS[state]) },
      { head: 'Trust', cell: trustWord },
    ],
    rows: children,
    empty: emptyState('It delegates to none.'),
  });
}
