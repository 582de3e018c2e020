import { existsSync, realpathSync } from 'node:fs';
import { appendFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connectSensor, type SensorClient } from '../../sensor/client.ts';
import { type RoundResult, runRound, type SensorDeps } from '../../sensor/round.ts';
import { sensorDeps } from '../../sensor/run.ts';
import type { PlatformCaller } from './caller.ts';

const PROGRAMS = 'usr/local/bin';
const HOME = 'home/deploy';
const REASON = 'the demonstration begins';

/** File of the machine. */
export interface MachineFile {
  path: string;
  /** Path as shown to people. */
  shown: string;
}

/** Watched machine: folders in a temporary directory, and a real sensor, which runs in this process. */
export class WatchedMachine implements AsyncDisposable {
  readonly #caller: PlatformCaller;
  readonly #folder: string;
  readonly #endpointId: string;
  readonly #service: SensorClient;
  readonly #deps: SensorDeps;

  private constructor(caller: PlatformCaller, folder: string, endpointId: string, service: SensorClient) {
    this.#caller = caller;
    this.#folder = folder;
    this.#endpointId = endpointId;
    this.#service = service;
    this.#deps = sensorDeps({ service, state: join(folder, 'sensor'), bytesPerSecond: null, canWatch: false });
  }

  /** True if the sensor can run on this system. */
  static get isPossible(): boolean {
    return existsSync('/proc/self/fd');
  }

  /** Enrolls a machine with a single program. @param parent folder for the machine's folders. */
  static async enrol(caller: PlatformCaller, parent: string): Promise<WatchedMachine> {
    // The sensor follows no links, and the folder for temporary files may be one.
    const folder = join(realpathSync(parent), 'machine');
    for (const below of [PROGRAMS, HOME]) await mkdir(join(folder, below), { recursive: true });
    const roots = [join(folder, PROGRAMS)];
    const { endpoint_id, endpoint_token } = await caller.post<Enrolled>('/endpoints/enroll', {
      name: 'backup-1',
      roots,
    });
    const service = connectSensor({ url: `${caller.origin}/endpoints`, token: endpoint_token });
    const machine = new WatchedMachine(caller, folder, endpoint_id, service);
    await writeFile(machine.program.path, '#!/bin/sh\nexec tar --create --file /srv/backup.tar /srv/data\n');
    return machine;
  }

  get program(): MachineFile {
    return this.#file(`${PROGRAMS}/backup`);
  }

  get trap(): MachineFile {
    return this.#file(`${HOME}/api.env`);
  }

  /**
   * Plants a trap as a file, scans, and has the scan approved as the baseline.
   * @returns whether the file system reports reads; if it does not, they cannot be detected.
   */
  async begin(label: string): Promise<{ isReadSeen: boolean }> {
    const { path } = this.trap;
    const bait = `/endpoints/hosts/${this.#endpointId}/bait`;
    await this.#caller.post(bait, { credential_type: 'api_token', path, label });
    await this.round();
    const input = { from: 'latest_scan', name: 'as installed', reason: REASON };
    const hosts = `/endpoints/hosts/${this.#endpointId}`;
    const { baseline_id } = await this.#caller.post<{ baseline_id: string }>(`${hosts}/baselines`, input);
    await this.#caller.post(`/endpoints/baselines/${baseline_id}/approve`, { reason: REASON });
    const { data } = await this.#caller.get<{ data: { seen_by: string[] }[] }>(bait);
    return { isReadSeen: data.some(({ seen_by }) => seen_by.length > 0) };
  }

  /** Runs one round of the sensor: bait, scan, report. */
  round(): Promise<RoundResult> {
    return runRound(this.#deps);
  }

  /** Changes the program, as an attacker would. */
  async tamper(): Promise<void> {
    await appendFile(this.program.path, 'cp /srv/backup.tar /tmp/.hidden\n');
  }

  #file(below: string): MachineFile {
    return { path: join(this.#folder, below), shown: `/${below}` };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#service[Symbol.asyncDispose]();
  }
}

interface Enrolled {
  endpoint_id: string;
  endpoint_token: string;
}
