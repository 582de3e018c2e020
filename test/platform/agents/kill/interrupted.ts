import type { KillMode, KillStepName } from '../../../../src/platform/agents/enums.ts';
import { openParts } from '../../../../src/platform/parts.ts';
import { SOMEBODY } from '../../world.ts';
import { killSwitchOn } from './on-parts.ts';

/** Arguments of the separate process. */
export interface Interruption {
  place: Parameters<typeof openParts>[0];
  kills: readonly Interrupted[];
  /** Milliseconds by which the process's clock is slow. */
  agoMs: number;
}

/** A use of the kill switch that hangs before one of its steps. */
export interface Interrupted {
  agentId: string;
  mode: KillMode;
  step: KillStepName;
  deadlineMs: number;
}

/** Uses the kill switch, prints `hanging` once all uses hang, and waits to be killed. */
async function main(): Promise<void> {
  const { place, kills, agoMs } = JSON.parse(process.argv[2] ?? '') as Interruption;
  const parts = await openParts(place);
  for (const { agentId, mode, step, deadlineMs } of kills)
    await new Promise<void>((hangs) => {
      const hang = () => {
        hangs();
        return new Promise<never>(() => {});
      };
      const kill = killSwitchOn(parts, {
        clock: () => new Date(Date.now() - agoMs),
        change: (own) =>
          own.name === step
            ? { name: step, deadlineMs, look: hang }
            : { ...own, deadlineMs: Math.max(own.deadlineMs, deadlineMs) },
      });
      kill.stop(SOMEBODY, agentId, { mode, reason: 'a test' }).catch((error) => {
        process.stderr.write(`${error}\n`);
        process.exit(1);
      });
    });
  process.stdout.write('hanging\n');
}

await main();
