import type { FastifyInstance } from 'fastify';
import { actorOf, principalOf } from '../../http/principal.ts';
import { serveReasonedAct } from '../../web/reasoned-act.ts';
import { agentParamsSchema } from '../requests/parts.ts';
import { type AgentPageParts, PROVED } from './parts.ts';
import { aboveAgent, agentIdOf, agentPath, agentsApi } from './paths.ts';

/** A suspended agent is let go on. */
export function reinstatePage(server: FastifyInstance, { service: { agents, kill } }: AgentPageParts): void {
  serveReasonedAct(server, {
    path: '/agents/of/:agent_id/reinstate',
    access: PROVED,
    params: agentParamsSchema,
    async view(request) {
      const agent = await agents.find(agentIdOf(request));
      const back = agentPath(agent.agent_id);
      return {
        title: `Reinstate ${agent.name}`,
        above: aboveAgent(agent),
        introduction:
          'It may act again, and its passport and certificates are good again. It begins in the tier RESTRICTED, and the days that promotion takes count anew. Agents that it delegates to are not reinstated with it. Find out first why it was suspended.',
        submit: 'Reinstate it',
        isFinal: false,
        back,
        api: agentsApi(agent.agent_id, 'reinstate'),
      };
    },
    async act(request, given) {
      const id = agentIdOf(request);
      const { message } = await kill.reinstate(actorOf(principalOf(request)), id, given);
      return { notice: message, next: agentPath(id) };
    },
  });
}
