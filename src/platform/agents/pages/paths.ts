import type { FastifyRequest } from 'fastify';
import { paramsOf } from '../../web/asked.ts';
import { auditStreamPath } from '../../web/entry-place.ts';
import { PAGES, pathsBelow } from '../../web/own-path.ts';
import { streamOfAgent } from '../enums.ts';

export const AGENTS_PATH = `${PAGES}/agents`;
export const REGISTER_PATH = `${AGENTS_PATH}/register`;
export const SUBSCRIBERS_PATH = `${AGENTS_PATH}/subscribers`;

/** Returns the path of an agent's page, or of a page below it. */
export const agentPath = pathsBelow(`${AGENTS_PATH}/of`);

export function actionPath(agentId: string, actionId: string): string {
  return agentPath(agentId, 'actions', actionId);
}

export function killPath(agentId: string, killId: string): string {
  return agentPath(agentId, 'kills', killId);
}

export const subscriberPath = pathsBelow(SUBSCRIBERS_PATH);

/** Returns the path of an agent's stream, on the pages of the audit service. */
export function agentStreamPath(agentId: string): string {
  return auditStreamPath(streamOfAgent(agentId));
}

/** Base path of the API. */
export const AGENTS_API = '/agents/api/v1';

export const agentsApi = pathsBelow(`${AGENTS_API}/agents`);

export const SUBSCRIBERS_API = `${AGENTS_API}/subscribers`;

/** Returns the path of a public route, which needs no key. */
export const publicApi = pathsBelow(`${AGENTS_API}/public`);

/** Breadcrumbs above the pages of agents. */
export const ABOVE_AGENTS = [{ title: 'Agents', path: AGENTS_PATH }];
export const ABOVE_SUBSCRIBERS = [...ABOVE_AGENTS, { title: 'Subscribers', path: SUBSCRIBERS_PATH }];

export function aboveAgent({ agent_id, name }: { agent_id: string; name: string }) {
  return [...ABOVE_AGENTS, { title: name, path: agentPath(agent_id) }];
}

/** Returns the id of the agent in the path of a page. */
export function agentIdOf(request: FastifyRequest): string {
  return paramsOf<{ agent_id: string }>(request).agent_id;
}
