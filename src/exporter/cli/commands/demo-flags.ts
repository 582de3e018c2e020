import type { Argv } from 'yargs';
import { workDirectoryFlags } from '../config/flags.ts';

export function demoFlags(argv: Argv) {
  return argv
    .options({ archive: { type: 'string', describe: 'a folder for the evidence (default: ./evidence-archive)' } })
    .options(workDirectoryFlags)
    .example('$0 demo', 'exports what really happened on this machine into ./evidence-archive');
}
export type DemoFlags = Awaited<ReturnType<typeof demoFlags>['argv']>;
