import type { FastifyRequest } from 'fastify';
import { paramsOf } from '../../web/asked.ts';
import { PAGES } from '../../web/own-path.ts';
import { streamOfAgent } from '../enums.ts';

export const AGENTS_PATH = `${PAGES}/agents`;
export const REGISTER_PATH = `${AGENTS_PATH}/register`;
export const SUBSCRIBERS_PATH = `${AGENTS_PATH}/subscribers`;

/** The page of an agent, or one below it. */
export function agentPath(agentId: string, ...below: readonly string[]): string {
  return pathOf(`${AGENTS_PATH}/of`, agentId, ...below);
}

export function actionPath(agentId: string, actionId: string): string {
  return agentPath(agentId, 'actions', actionId);
}

export function killPath(agentId: string, killId: string): string {
  return agentPath(agentId, 'kills', killId);
}

export function subscriberPath(subscriberId: string, ...below: readonly string[]): string {
  return pathOf(SUBSCRIBERS_PATH, subscriberId, ...below);
}

/** On the pages of the audit service: the stream of an agent. */
export function agentStreamPath(agentId: string): string {
  return pathOf(`${PAGES}/audit/streams`, streamOfAgent(agentId));
}

/** On the pages of the audit service: an entry. */
export function agentEntryPath({ stream_id, sequence }: { stream_id: string; sequence: number }): string {
  return pathOf(`${PAGES}/audit/streams`, stream_id, 'entries', String(sequence));
}

/** Path of the API. */
export const AGENTS_API = '/agents/api/v1';

export function agentsApi(...parts: readonly string[]): string {
  return pathOf(`${AGENTS_API}/agents`, ...parts);
}

export const SUBSCRIBERS_API = '/agents/api/v1/subscribers';

/** The address of a public route, which needs no key. */
export function publicApi(...parts: readonly string[]): string {
  return pathOf('/agents/api/v1/public', ...parts);
}

function pathOf(...[first, ...others]: readonly [string, ...string[]]): string {
  return [first, ...others.map(encodeURIComponent)].join('/');
}

/** The breadcrumb above the pages of agents. */
export const ABOVE_AGENTS = [{ title: 'Agents', path: AGENTS_PATH }];
export const ABOVE_SUBSCRIBERS = [...ABOVE_AGENTS, { title: 'Subscribers', path: SUBSCRIBERS_PATH }];

export function aboveAgent({ agent_id, name }: { agent_id: string; name: string }) {
  return [...ABOVE_AGENTS, { title: name, path: agentPath(agent_id) }];
}

/** The agent that a page is of. */
export function agentIdOf(request: FastifyRequest): string {
  return paramsOf<{ agent_id: string }>(request).agent_id;
}
