import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { BaitKeeper } from '../../src/sensor/bait/keeper.ts';
import { connectSensor, type SensorClient } from '../../src/sensor/client.ts';
import { type RoundResult, runRound, type SensorDeps } from '../../src/sensor/round.ts';
import { SensorState } from '../../src/sensor/state/state.ts';
import type { Service } from '../platform/service.ts';
import { openFolder, UNPACED } from './scanned.ts';

/** Members of an event on the wire that tests read. */
export interface SeenEvent {
  event_id: string;
  event_type: string;
  severity: string;
  path: string | null;
  expected_sha256: string | null;
  observed_sha256: string | null;
  status: string;
}

/** An enrolled machine with a watched root and a sensor. */
export class Watched {
  readonly service: Service;
  readonly id: string;
  readonly token: string;
  readonly root: string;
  readonly folder: string;
  /** Waits that the sensor requested, in milliseconds. */
  readonly waits: number[] = [];
  now: () => Date = () => new Date();

  constructor(
    service: Service,
    enrolled: { endpoint_id: string; endpoint_token: string },
    root: string,
    folder: string,
  ) {
    this.service = service;
    this.id = enrolled.endpoint_id;
    this.token = enrolled.endpoint_token;
    this.root = root;
    this.folder = folder;
  }

  /** Returns the dependencies of a sensor that starts now. @param more such as the `folder` of a clone. */
  deps({ folder = this.folder, url = this.url, now = this.now } = {}): SensorDeps {
    const [state, service] = [new SensorState(folder), this.client(url)];
    return {
      state,
      service,
      bait: new BaitKeeper({ state, service, canWatch: false }),
      pace: () => UNPACED,
      clock: now,
      bootId: 'boot',
    };
  }

  get url(): string {
    return `${this.service.origin}/endpoints`;
  }

  client(url = this.url): SensorClient {
    return connectSensor({ url, token: this.token, wait: async (ms) => this.waits.push(ms) });
  }

  /** Starts a sensor for one round. */
  async round(more: Parameters<Watched['deps']>[0] = {}): Promise<RoundResult> {
    const deps = this.deps(more);
    await using _service = deps.service;
    return await runRound(deps);
  }

  /** Approves the last scan as the baseline. */
  async approve(): Promise<void> {
    const input = { from: 'latest_scan', name: 'as it was', reason: 'a test' };
    const { body } = await this.post(`/hosts/${this.id}/baselines`, input);
    const approved = await this.post(`/baselines/${body.baseline_id}/approve`, { reason: 'looked at' });
    if (approved.status !== 200) throw new Error(approved.text);
  }

  post(path: string, body: unknown) {
    return this.service.call('POST', `//endpoints${path}`, body);
  }

  /** Returns unresolved events. */
  async open(): Promise<SeenEvent[]> {
    const { body } = await this.service.call('GET', `//endpoints/events/?endpoint_id=${this.id}&limit=100`);
    return body.data.filter(({ status }: SeenEvent) => status !== 'resolved');
  }

  async types(): Promise<string[]> {
    return (await this.open()).map(({ event_type }) => event_type).sort();
  }

  /** Returns the entries about reports in the endpoint's stream. */
  async reports(): Promise<{ sequence: number; report_sha256: string }[]> {
    const { body } = await this.service.call('GET', `/entries/?stream_id=endpoints/${this.id}&limit=500`);
    const entries: { action: string; metadata: { sequence: number; report_sha256: string } }[] = body.data;
    return entries.filter(({ action }) => action === 'report.accepted').map(({ metadata }) => metadata);
  }
}

/** Enrolls a machine with these roots, or with an empty one. */
export async function watched(service: Service, roots?: string[], more: object = {}): Promise<Watched> {
  const place = openFolder();
  const root = join(place, 'root');
  mkdirSync(root);
  const input = { name: 'watched', roots: roots ?? [root], ...more };
  const { status, body, text } = await service.call('POST', '//endpoints/enroll', input);
  if (status !== 201) throw new Error(text);
  return new Watched(service, body, root, join(place, 'state'));
}
