import type { FastifyInstance } from 'fastify';
import { serveOperationAct } from '../../operations/act.ts';
import { killOperations } from '../operations/kill.ts';
import { type AgentPageParts, PROVED } from './parts.ts';
import { AGENTS_API, aboveAgent, agentPath } from './paths.ts';

/** A suspended agent is let go on. */
export function reinstatePage(server: FastifyInstance, { service }: AgentPageParts): void {
  serveOperationAct(server, killOperations(service).reinstateAgent, {
    path: '/agents/of/:agent_id/reinstate',
    api: AGENTS_API,
    access: PROVED,
    subject: ({ agent_id }) => service.agents.find(agent_id),
    view: (agent) => ({
      title: `Reinstate ${agent.name}`,
      above: aboveAgent(agent),
      introduction:
        'It may act again, and its passport and certificates are good again. It begins in the tier RESTRICTED, and the days that promotion takes count anew. Agents that it delegates to are not reinstated with it. Find out first why it was suspended.',
      submit: 'Reinstate it',
      isFinal: false,
      back: agentPath(agent.agent_id),
    }),
    notice: (_agent, { message }) => message,
  });
}
