import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Dispatcher, Pool } from 'undici';
import { startPlatform } from '../../src/platform/app.ts';
import type { Platform } from '../../src/platform/options.ts';
import { builtFolder, PLATFORM } from '../support/process.ts';
import { runPlatform } from './command.ts';

/** Built program. */
export const PROGRAM = join(builtFolder(), 'dist', PLATFORM);

/** A built platform that runs in separate processes on one database. */
export class PlatformProcesses {
  readonly #words: readonly string[];
  readonly #running = new Set<ChildProcess>();
  readonly #here: Platform[] = [];
  readonly apiKey: string;

  private constructor(words: readonly string[], apiKey: string) {
    this.#words = words;
    this.apiKey = apiKey;
  }

  /** @param words options that choose the storage: `--data`, `--postgres`. */
  static async init(words: readonly string[]): Promise<PlatformProcesses> {
    return new PlatformProcesses(words, /sk_\S+/.exec(await carriedOut(['init', ...words]))?.[0] ?? '');
  }

  /** Starts another process, and waits until it prints its address. @param env variables in addition to the tests'. */
  async serve(env: NodeJS.ProcessEnv = {}): Promise<{ child: ChildProcess; origin: string }> {
    const child = spawn(process.execPath, [PROGRAM, 'serve', ...this.#words, '--port', '0'], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
    });
    this.#running.add(child);
    const log = text(child.stderr);
    const ended = once(child, 'exit').then(async () => {
      throw new Error(`serve ended before it printed its address: ${await log}`);
    });
    const [line] = await Promise.race([once(createInterface(child.stdout), 'line'), ended]);
    return { child, origin: /^listening on (http:\S+)$/.exec(line)?.[1] ?? '' };
  }

  /** Serves in this process, which is ten times cheaper, after another process has ended. */
  async serveHere(): Promise<{ origin: string }> {
    const wordAfter = (flag: string) => this.#words[this.#words.indexOf(flag) + 1];
    const dataDir = wordAfter('--data') ?? '';
    const postgresUrl = this.#words.includes('--postgres') ? (wordAfter('--postgres') ?? null) : null;
    const platform = await startPlatform({ dataDir, postgresUrl, port: 0, logLevel: 'silent' });
    this.#here.push(platform);
    return platform;
  }

  /** Runs another command on the platform, as an administrator would. */
  run(command: string, words: readonly string[]): Promise<string> {
    return carriedOut([command, ...this.#words, ...words]);
  }

  /** Returns the same platform in another storage. */
  at(words: readonly string[]): PlatformProcesses {
    return new PlatformProcesses(words, this.apiKey);
  }

  async close(): Promise<void> {
    for (const child of this.#running) await kill(child);
    for (const platform of this.#here.splice(0)) await platform.close();
  }
}

/** @throws Error with the output unless the command ends with 0. */
async function carriedOut(words: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await runPlatform(words);
  if (code !== 0) throw new Error(`${words.join(' ')} ended with ${code}: ${stdout}${stderr}`);
  return stdout;
}

export async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

/** Acknowledged entries, by idempotency key. */
export type Acknowledged = Map<string, { stream_id: string; sequence: number; hash: string }>;

/** Addresses of the processes that answer at present. */
export class Origins {
  readonly #pools = new Map<string, Pool>();
  /** Different refusals for which a request was repeated. */
  readonly refusals = new Set<string>();
  /** Total time from refusals to the next acknowledgments. */
  refusedMs = 0;
  #refusedAt: number | null = null;
  #next = 0;

  add(origin: string): void {
    this.#pools.set(origin, new Pool(origin, { connections: 64 }));
  }

  async remove(origin: string): Promise<void> {
    const pool = this.#pools.get(origin);
    this.#pools.delete(origin);
    await pool?.destroy();
  }

  async close(): Promise<void> {
    for (const origin of [...this.#pools.keys()]) await this.remove(origin);
  }

  /** Sends an entry until a process acknowledges it. The idempotency key makes the platform record the entry once. */
  async append(apiKey: string, entry: { idempotency_key: string }, acknowledged: Acknowledged): Promise<void> {
    const body = JSON.stringify(entry);
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
    for (;;) {
      const pools = [...this.#pools.values()];
      const pool = pools[this.#next++ % Math.max(1, pools.length)];
      const answer = await pool?.request({ method: 'POST', path: '/audit/entries/', headers, body }).catch(() => null);
      const text = await answer?.body.text().catch(() => null);
      if (answer && text && (answer.statusCode === 200 || answer.statusCode === 201)) {
        const { stream_id, sequence, hash } = JSON.parse(text);
        acknowledged.set(entry.idempotency_key, { stream_id, sequence, hash });
        if (this.#refusedAt !== null) this.refusedMs += performance.now() - this.#refusedAt;
        this.#refusedAt = null;
        return;
      }
      if (answer && answer.statusCode < 500) throw new Error(`${answer.statusCode} ${text}`);
      this.refusals.add(refusalOf(answer, text));
      this.#refusedAt ??= performance.now();
      // No process answers at this moment.
      await sleep(20);
    }
  }
}

function refusalOf(answer: Dispatcher.ResponseData | null | undefined, text: string | null | undefined): string {
  if (!answer || !text) return 'no answer';
  return `${answer.statusCode} ${JSON.parse(text).code} after ${answer.headers['retry-after']}`;
}
