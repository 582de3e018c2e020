import { join } from 'node:path';
import type { Bench, Data } from './bench.ts';
import type { Program } from './program.ts';
import { HERE } from './programs.ts';

export interface Verdict {
  entries: number;
  bad: number;
}

/** Parses the output of `limit` and `peer.py`. */
export function readVerdict(stdout: string): Verdict {
  const [, entries, bad] = /^(?:limit|peer)[^:]*: (\d+) entries, (\d+) bad,/m.exec(stdout) ?? [];
  if (entries === undefined) throw new Error(`no verdict: ${stdout.slice(0, 500)}`);
  return { entries: Number(entries), bad: Number(bad) };
}

/** Parses `evidence verify --json` of a package; findings of severity error count as bad. */
export function readReport(stdout: string): Verdict {
  const { streams } = JSON.parse(stdout) as { streams: { entries: number; findings: { severity: string }[] }[] };
  return {
    entries: streams.reduce((sum, stream) => sum + stream.entries, 0),
    bad: streams.flatMap(({ findings }) => findings).filter(({ severity }) => severity === 'error').length,
  };
}

function mustBeGood(data: Data, { entries, bad }: Verdict): void {
  if (entries !== data.entries || bad !== 0)
    throw new Error(`${entries} entries with ${bad} bad, of ${data.entries} good ones`);
}

interface Variant {
  seals?: boolean;
}

export function limitProgram(bench: Bench, data: Data, { seals = false }: Variant = {}): Program {
  return {
    command: [bench.programs.limit, data.canonicalLines, ...(seals ? ['seal'] : [])],
    check: (stdout) => mustBeGood(data, readVerdict(stdout)),
  };
}

export function peerProgram(bench: Bench, data: Data, { seals = false }: Variant = {}): Program {
  return {
    command: ['python3', join(HERE, 'peer.py'), data.sentPackage, ...(seals ? [bench.programs.sealKey.text] : [])],
    check: (stdout) => mustBeGood(data, readVerdict(stdout)),
  };
}

export function verifyProgram(
  bench: Bench,
  data: Data,
  { seals = false, canonical = false, threads }: Variant & { canonical?: boolean; threads?: number } = {},
): Program {
  const { evidence, sealKey } = bench.programs;
  const file = canonical ? data.canonicalPackage : data.sentPackage;
  const flags = [
    ...(seals ? ['--seal-key', `k1=${sealKey.file}`] : []),
    ...(threads === undefined ? [] : ['--threads', String(threads)]),
  ];
  return {
    command: [process.execPath, evidence, 'verify', file, '--json', '--quiet', ...flags],
    check: (stdout) => mustBeGood(data, readReport(stdout)),
  };
}
