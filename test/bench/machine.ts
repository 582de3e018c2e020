import { arch, availableParallelism, cpus, release, totalmem, type } from 'node:os';

export interface Machine {
  cpu: string;
  cores: number;
  memory_gb: number;
  system: string;
  node: string;
}

export function describeMachine(): Machine {
  return {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    memory_gb: Math.round(totalmem() / 1e9),
    system: `${type()} ${release()} ${arch()}`,
    node: process.version,
  };
}

export function formatMachine({ cpu, cores, memory_gb, system, node }: Machine): string {
  return `${cpu}, ${cores} cores, ${memory_gb} GB, ${system}, Node.js ${node}`;
}
