import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Ended, evidence } from '../evidence.ts';
import { type BesideServices, type Shown, startBeside } from './beside.ts';

export const API_KEY = 'sk_of_the_services_beside';
export const RUN = 'SUPPLEMENTS';

/** Exports of an audit service and three other services into an archive. */
export interface BesideExport {
  beside: BesideServices;
  directory: string;
  env: Record<string, string>;
  /** Exports everything, with the same command each time. */
  run(...flags: string[]): Promise<Ended>;
  /** Folder of the run. */
  folder: string;
}

/** Timeouts short enough to wait for, and limits low enough to exceed. */
const SOURCE = {
  limits: { json_bytes: 200_000, pages: 20 },
  timeouts: { connect_seconds: 5, headers_seconds: 5, idle_seconds: 0.3 },
};

/** @param config other sections of evidence.yaml. @param source settings of the source. */
export async function placeBeside(
  auditUrl: string,
  shown: Shown,
  config: object = {},
  source: object = SOURCE,
): Promise<BesideExport> {
  const beside = await startBeside(shown, API_KEY);
  const directory = mkdtempSync(join(tmpdir(), 'supplements-'));
  writeFileSync(join(directory, 'evidence.yaml'), JSON.stringify({ source: { ...beside.urls, ...source }, ...config }));
  const env = { EVIDENCE_AUDIT_URL: auditUrl, EVIDENCE_API_KEY: API_KEY };
  return {
    beside,
    directory,
    env,
    run: (...flags) => evidence([...words, ...flags], { cwd: directory, env }),
    folder: join(directory, 'evidence-archive', 'runs', RUN),
  };
}

/** Command line of the export. */
export const words = ['export', '--all-time', '--request', RUN, '--json'];

// biome-ignore lint/suspicious/noExplicitAny: records of the archive as parsed JSON.
type Document = any;

/** Returns the newest attempt that ended incomplete. */
export function attemptIn(folder: string): Document {
  const attempt = readdirSync(join(folder, 'attempts')).sort().at(-1) ?? '';
  return JSON.parse(readFileSync(join(folder, 'attempts', attempt, 'attempt.json'), 'utf8'));
}

export function recordIn(folder: string): Document {
  return JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8'));
}
