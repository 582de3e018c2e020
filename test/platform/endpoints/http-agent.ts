import type { EndpointLine } from '../../../src/platform/endpoints/report/line.ts';
import { type Answer, call, type Service } from '../service.ts';
import { AgentDouble, partOf, type SentReport } from './agent-double.ts';

export const ENDPOINTS = '//endpoints';

/** An agent that reports over HTTP with its own token. */
export class HttpAgent {
  readonly service: Service;
  readonly agent: AgentDouble;
  readonly token: string;

  constructor(service: Service, agent: AgentDouble, token: string) {
    this.service = service;
    this.agent = agent;
    this.token = token;
  }

  get id(): string {
    return this.agent.endpointId;
  }

  send(method: string, path: string, body?: unknown): Promise<Answer> {
    return call(`${this.service.origin}/endpoints`, this.token, method, path, body);
  }

  async made(lines: readonly EndpointLine[], more: object = {}): Promise<SentReport> {
    const { next } = (await this.send('GET', '/agent/settings')).body;
    return this.agent.report(next, lines, Date.now(), more);
  }

  part(report: SentReport, part = 1): Promise<Answer> {
    return this.send('POST', '/scans/report', partOf(report, part));
  }

  /** Sends all parts. @returns the answer to the last. */
  async report(lines: readonly EndpointLine[]): Promise<Answer> {
    const report = await this.made(lines);
    for (let part = 1; ; part++) {
      const answer = await this.part(report, part);
      if (answer.status !== 202) return answer;
    }
  }
}

/** An endpoint that is enrolled over HTTP, and whose agent has bound its key. */
export async function enrol(service: Service, more: object = {}): Promise<HttpAgent> {
  const { status, body, text } = await service.call('POST', `${ENDPOINTS}/enroll`, { name: 'host', ...more });
  if (status !== 201) throw new Error(text);
  const http = new HttpAgent(service, new AgentDouble(body.endpoint_id), body.endpoint_token);
  const { next } = (await http.send('GET', '/agent/settings')).body;
  const bound = await http.send('POST', '/agent/key', http.agent.proof(next));
  if (bound.status !== 200) throw new Error(bound.text);
  return http;
}
