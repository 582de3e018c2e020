import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { DecoyKind, DecoySettings } from '../../../src/platform/traps/decoys/decoy.ts';
import type { Service } from '../service.ts';

/** Configures a decoy on a free port of this machine. */
export function decoyHere(kind: DecoyKind, more: Partial<DecoySettings> = {}): DecoySettings {
  const listens = { host: '127.0.0.1', port: 0, publicHost: null, publicPort: null, tls: null };
  return { name: kind, kind, ...listens, ...more };
}

/** A trap in a home folder, with the only information that its user has. */
export interface PlantedTrap {
  id: string;
  credential: Record<string, string>;
  home: string;
  content: string;
  /** Runs a program with this home. @returns its output. */
  run(program: string, args: readonly string[], variables?: Record<string, string>): Promise<string>;
  detections(): Promise<ReturnType<JSON['parse']>[]>;
}

export interface Planting {
  options?: Record<string, unknown>;
  /** Name of the decoy; by default the first of the kind. */
  decoy?: string;
  /** Changes the file before it is used. */
  change?: (content: string) => string;
}

/** Traps of a platform; `close` removes planted files. */
export class Plantings {
  readonly #service: Service;
  readonly #homes: string[] = [];

  constructor(service: Service) {
    this.#service = service;
  }

  async plant(
    credential_type: string,
    { options = {}, decoy, change = (same) => same }: Planting = {},
  ): Promise<PlantedTrap> {
    const input = { credential_type, plant_location: 'server', label: 'a trap', options, decoy };
    const made = await this.#service.call('POST', '//traps/api/v1/credentials/generate', input);
    if (made.status !== 201) throw new Error(made.text);
    const { credential_id: id, credential, artifact } = made.body;
    const home = await mkdtemp(join(tmpdir(), 'planted-'));
    this.#homes.push(home);
    const path = join(home, artifact.filename);
    const content = change(artifact.content);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content, { mode: 0o600 });
    const run = (program: string, args: readonly string[], variables = {}) => runIn(home, program, args, variables);
    return { id, credential, home, content, run, detections: () => this.detections(id) };
  }

  async detections(id: string) {
    return (await this.#service.call('GET', `//traps/api/v1/detections/?credential_id=${id}`)).body.data;
  }

  async act(id: string, act: string) {
    const { status, text, body } = await this.#service.call('POST', `//traps/api/v1/credentials/${id}/${act}`);
    if (status >= 300) throw new Error(text);
    return body;
  }

  async close(): Promise<void> {
    for (const home of this.#homes) await rm(home, { recursive: true });
  }
}

function runIn(home: string, program: string, args: readonly string[], variables: Record<string, string>) {
  const env = { PATH: process.env['PATH'] ?? '', HOME: home, ...variables };
  return new Promise<string>((resolve) => {
    const child = execFile(program, [...args], { cwd: home, env, timeout: 60_000 }, (_error, stdout, stderr) =>
      resolve(stdout + stderr),
    );
    child.stdin?.end();
  });
}
