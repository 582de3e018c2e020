import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import net, { type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { DecoyKind, DecoySettings } from '../../../src/platform/traps/decoys/decoy.ts';
import { freePort } from '../../support/ports.ts';
import { type Service, startService } from '../service.ts';
import { settingsOf } from './decoy-places.ts';

/** Output and exit status of a program. */
export interface Ended {
  status: number;
  stdout: string;
  stderr: string;
}

/** A planted trap. */
export interface Planted {
  id: string;
  credential: Record<string, string>;
  /** Runs a program whose home contains only the planted file. */
  run(program: string, args: readonly string[], variables?: Record<string, string>): Promise<Ended>;
}

/** A platform with one decoy, and clients of the decoy. */
export class DecoyService {
  readonly service: Service;
  readonly port: number;
  readonly #folder: string;

  static async start(kind: DecoyKind, more: Partial<DecoySettings> = {}): Promise<DecoyService> {
    const port = await freePort();
    const service = await startService({ decoys: [settingsOf({ kind, port, ...more })] });
    return new DecoyService(service, port, await mkdtemp(join(tmpdir(), 'planted-')));
  }

  private constructor(service: Service, port: number, folder: string) {
    this.service = service;
    this.port = port;
    this.#folder = folder;
  }

  async plant(credential_type: string, options: Record<string, unknown> = {}): Promise<Planted> {
    const input = { credential_type, plant_location: 'server', label: 'a trap', options };
    const { status, text, body } = await this.service.call('POST', '//traps/api/v1/credentials/generate', input);
    if (status !== 201) throw new Error(text);
    const home = join(this.#folder, body.credential_id);
    const path = join(home, body.artifact.filename);
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFile(path, body.artifact.content, { mode: 0o600 });
    const { credential_id: id, credential } = body;
    return { id, credential, run: (program, args, variables) => runIn(home, program, args, variables) };
  }

  async change(id: string, act: 'revoke' | 'rotate'): Promise<void> {
    const { status, text } = await this.service.call('POST', `//traps/api/v1/credentials/${id}/${act}`);
    if (status >= 300) throw new Error(text);
  }

  /** Makes the platform test the trap. */
  async prove(id: string) {
    return (await this.service.call('POST', `//traps/api/v1/credentials/${id}/test`)).body.data;
  }

  async detections(id?: string) {
    const filter = id === undefined ? '' : `?credential_id=${id}`;
    return (await this.service.call('GET', `//traps/api/v1/detections/${filter}`)).body.data;
  }

  /** Opens a connection that sends nothing and records the answers. */
  async connect(): Promise<Socket & { heard: string }> {
    const socket = Object.assign(net.connect(this.port, '127.0.0.1'), { heard: '' });
    socket.on('error', () => {}).on('data', (bytes: Buffer) => (socket.heard += bytes.toString('latin1')));
    await new Promise((resolve) => socket.once('connect', resolve));
    return socket;
  }

  /** Sends bytes, and returns the answer once the decoy closes the connection. */
  async exchange(sent: Uint8Array | string): Promise<string> {
    const socket = await this.connect();
    socket.write(sent);
    if (!socket.closed) await new Promise((resolve) => socket.once('close', resolve));
    return socket.heard;
  }

  async close(): Promise<void> {
    await this.service.close();
    await rm(this.#folder, { recursive: true });
  }
}

function runIn(home: string, program: string, args: readonly string[], variables = {}): Promise<Ended> {
  const env = { HOME: home, PATH: process.env['PATH'] ?? '', LC_ALL: 'C', ...variables };
  return new Promise((resolve) => {
    const child = execFile(program, args, { cwd: home, env, timeout: 60_000 }, (error, stdout, stderr) =>
      resolve({ status: error === null ? 0 : Number(error.code ?? 1), stdout, stderr }),
    );
    child.stdin?.end();
  });
}
