import type { Json } from '../../core/json/canonical.ts';
import type { AlertSeverity } from '../alert-enums.ts';
import type { Alert, AlertContent, AlertedService } from '../alerts/api.ts';
import { pick } from '../database/table.ts';
import type { WireAgent } from './wire/agents.ts';

/** Titles of alerts about agents. */
const KINDS = {
  'agent.auto_suspended': {
    severity: 'critical',
    title: 'Agent suspended',
    sentence:
      'An agent is suspended because its trust score, or that of the agent that delegates to it, fell to 20 or less.',
  },
  'agent.composition_changed': {
    severity: 'high',
    title: 'Agent changed',
    sentence: 'An agent differs from what was onboarded. Its passport is suspended until it is onboarded again.',
  },
  'agent.decoy_used': {
    severity: 'critical',
    title: 'Decoy used by agent',
    sentence: 'An agent, or somebody with its key, used a decoy, which has no legitimate use.',
  },
  'agent.killed': {
    severity: 'high',
    title: 'Kill switch used on agent',
    sentence: 'Somebody used the kill switch on an agent. The receipt lists the steps that ran.',
  },
} as const satisfies Record<string, { severity: AlertSeverity; title: string; sentence: string }>;
export type AgentAlertKind = keyof typeof KINDS;

/**
 * Returns an alert about an agent.
 * @param what distinguishes alerts of one kind; a repeated alert with the same value is suppressed for an hour.
 * @param level severity within the kind, from 0; a higher level is sent at once.
 */
export function alertOfAgent(
  kind: AgentAlertKind,
  { agent_id, what, level = 0 }: { agent_id: string; what: string; level?: number },
): Alert {
  return {
    source: 'agents',
    kind,
    severity: KINDS[kind].severity,
    subject_id: agent_id,
    group_key: `${kind} ${agent_id} ${what}`,
    level,
    flood_key: agent_id,
  };
}

/** Describes agents to the alert service. Agents do not store the state of an alert. */
export function alertedAgents(agents: { find(agentId: string): Promise<WireAgent> }): AlertedService {
  return {
    source: 'agents',
    describe: async ({ kind, subject_id }) => contentOf(KINDS[kind as AgentAlertKind], await agents.find(subject_id)),
    noteAlert: async () => {},
  };
}

function contentOf({ title, sentence, severity }: (typeof KINDS)[AgentAlertKind], agent: WireAgent): AlertContent {
  const { agent_id, name, state, suspended_because, score, tier } = agent;
  const data: { [name: string]: Json } = {
    ...pick(agent, ['agent_id', 'name', 'agent_type', 'model', 'version']),
    ...pick(agent, ['state', 'suspended_because', 'score', 'tier']),
  };
  return {
    subject: `${title}: ${name}`,
    sentence,
    facts: [
      ['Agent', name],
      ['ID', agent_id],
      ['Severity', severity],
      ['State', suspended_because === null ? state : `${state} (${suspended_because})`],
      ['Trust', `${score} (${tier})`],
      ['Passport', agent.identity?.passport.status ?? null],
      ['Note', agent.message],
    ],
    path: `/app/agents/${encodeURIComponent(agent_id)}`,
    data: { ...data, passport_status: agent.identity?.passport.status ?? null, message: agent.message },
  };
}
