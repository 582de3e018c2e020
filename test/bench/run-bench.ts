import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { finish, startNode } from '../support/process.ts';
import type { Row } from './row.ts';

const MAIN = join(import.meta.dirname, 'main.ts');

export interface Report {
  machine: Record<string, unknown>;
  planted: Record<string, { entries: number; bad: number }>;
  rows: Row[];
}

/** Runs the bench as a user does. */
export async function bench(args: readonly string[], env: Record<string, string> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'bench-test-'));
  const json = join(folder, 'bench.json');
  const { code, stdout, stderr } = await finish(startNode(MAIN, [...args, '--json', json], { cwd: folder, env }));
  const report = () => JSON.parse(readFileSync(json, 'utf8')) as Report;
  return { code, stdout, stderr, report };
}
