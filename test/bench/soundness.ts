import { spawn } from 'node:child_process';
import { cleanEnvironment } from '../support/environment.ts';
import { finish } from '../support/process.ts';
import type { Bench } from './bench.ts';
import type { Program } from './program.ts';
import { limitProgram, peerProgram, readReport, readVerdict, type Verdict, verifyProgram } from './verifiers.ts';

const ENTRIES = 1000;
const ALTERED = 617;

/** Returns each verifier's verdict on a chain with one altered entry. */
export async function findPlanted(bench: Bench): Promise<Record<string, Verdict>> {
  const data = await bench.makeData(ENTRIES, 'planted', ALTERED);
  const verdicts: Record<string, Verdict> = {};
  for (const seals of [false, true]) {
    const suffix = seals ? ' with seals' : '';
    verdicts[`limit${suffix}`] = readVerdict(await printed(limitProgram(bench, data, { seals })));
    verdicts[`peer${suffix}`] = readVerdict(await printed(peerProgram(bench, data, { seals })));
    for (const canonical of [false, true])
      verdicts[`ours${canonical ? ', canonical' : ''}${suffix}`] = readReport(
        await printed(verifyProgram(bench, data, { seals, canonical })),
      );
  }
  return verdicts;
}

/** Rejects verifiers that miss an altered entry. @throws Error that names them. */
export function refuseUnsound(verdicts: Record<string, Verdict>): void {
  const wrong = Object.entries(verdicts).filter(([, { entries, bad }]) => entries !== ENTRIES || bad !== 1);
  if (wrong.length > 0)
    throw new Error(
      `of ${ENTRIES} entries, one of them altered: ${wrong.map(([name, { entries, bad }]) => `${name} saw ${entries} with ${bad} bad`).join('; ')}`,
    );
}

async function printed({ command: [program, ...args] }: Program): Promise<string> {
  const child = spawn(program, args, { env: cleanEnvironment(), stdio: ['ignore', 'pipe', 'pipe'] });
  const { code, stdout, stderr } = await finish(child);
  if (code !== 1) throw new Error(`${program} ended with ${code}, not with 1, of an altered chain: ${stdout}${stderr}`);
  return stdout;
}
