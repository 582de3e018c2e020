import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { ServedPlatform } from '../support/platform.ts';
import { HERE } from './programs.ts';
import type { Tally } from './recorded-service.ts';

/** Settings that give a program access to a service. */
export type Service = Pick<ServedPlatform, 'auditUrl' | 'apiKey' | 'env'>;

/** A service that replays recorded answers, so that measurements cover only the client program. */
export interface RecordedService extends Service {
  /** Number of requests that each recorded program made. */
  requests: number[];
  /** @throws Error if a program requested something that is not recorded. */
  stop(): Promise<void>;
}

/** Records a platform's answers to programs that run one after another, then replays them. */
export async function recordService(
  folder: string,
  platform: Service,
  programs: readonly ((service: Service) => Promise<unknown>)[],
): Promise<RecordedService> {
  const answers = mkdtempSync(join(folder, 'recorded-'));
  const requests: number[] = [];
  for (const program of programs) {
    const recorder = await serve(answers, platform, new URL(platform.auditUrl).origin);
    await program(recorder.service);
    requests.push((await recorder.stop()).requests);
  }
  const { service, stop } = await serve(answers, platform);
  return {
    ...service,
    requests,
    stop: async () => {
      const { unknown } = await stop();
      rmSync(answers, { recursive: true, force: true });
      if (unknown.length > 0) throw new Error(`${unknown.length} requests are not recorded, e.g. ${unknown[0]}`);
    },
  };
}

async function serve(answers: string, { auditUrl, apiKey, env }: Service, ...origin: string[]) {
  const child = spawn(process.execPath, [join(HERE, 'recorded-service.ts'), answers, ...origin], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const own = (await lines.next()).value ?? '';
  const url = auditUrl.replace(new URL(auditUrl).origin, own);
  const service: Service = { auditUrl: url, apiKey, env: { ...env, EVIDENCE_AUDIT_URL: url } };
  return { service, stop: () => stopServing(child, lines) };
}

async function stopServing(child: ChildProcess, lines: AsyncIterator<string>): Promise<Tally> {
  if (child.exitCode !== null) return { requests: 0, unknown: [] };
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const { value } = await lines.next();
  await ended;
  return JSON.parse(value) as Tally;
}
