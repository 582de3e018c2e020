import type { EndpointLine } from '../../../src/sensor/report/line.ts';
import { type Answer, call, type Service } from '../service.ts';
import { partOf, SensorDouble, type SentReport } from './sensor-double.ts';

export const ENDPOINTS = '//endpoints';

/** A sensor that reports over HTTP with its own token. */
export class HttpSensor {
  readonly service: Service;
  readonly sensor: SensorDouble;
  readonly token: string;

  constructor(service: Service, sensor: SensorDouble, token: string) {
    this.service = service;
    this.sensor = sensor;
    this.token = token;
  }

  get id(): string {
    return this.sensor.endpointId;
  }

  send(method: string, path: string, body?: unknown): Promise<Answer> {
    return call(`${this.service.origin}/endpoints`, this.token, method, path, body);
  }

  async made(lines: readonly EndpointLine[], more: object = {}): Promise<SentReport> {
    const { next } = (await this.send('GET', '/sensor/settings')).body;
    return this.sensor.report(next, lines, Date.now(), more);
  }

  part(report: SentReport, part = 1): Promise<Answer> {
    return this.send('POST', '/scans/report', partOf(report, part));
  }

  /** Sends all parts. @returns the answer to the last part. */
  async report(lines: readonly EndpointLine[]): Promise<Answer> {
    const report = await this.made(lines);
    for (let part = 1; ; part++) {
      const answer = await this.part(report, part);
      if (answer.status !== 202) return answer;
    }
  }
}

/** Enrolls an endpoint over HTTP whose sensor has bound its key. */
export async function enrol(service: Service, more: object = {}): Promise<HttpSensor> {
  const { status, body, text } = await service.call('POST', `${ENDPOINTS}/enroll`, { name: 'host', ...more });
  if (status !== 201) throw new Error(text);
  const http = new HttpSensor(service, new SensorDouble(body.endpoint_id), body.endpoint_token);
  const { next } = (await http.send('GET', '/sensor/settings')).body;
  const bound = await http.send('POST', '/sensor/key', http.sensor.proof(next));
  if (bound.status !== 200) throw new Error(bound.text);
  return http;
}
