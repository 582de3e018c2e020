import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, type TestContext } from 'vitest';
import { evidence } from '../evidence.ts';
import { run } from '../process.ts';
import { type FaultyOptions, type FaultyService, startFaultyService } from './faulty.ts';

const API_KEY = 'sk_of_the_faulty_service';
const RUN = 'FAULTS';
/** Length of the stream "bad", whose package needs several pieces, so that a cut connection leaves a part. */
const BAD_LENGTH = 700;
const LIMITS = [
  'source:',
  '  timeouts: { connect_seconds: 5, headers_seconds: 3, idle_seconds: 1.2 }',
  '  limits: { json_bytes: 8000000, package_bytes: 2000000 }',
  '',
].join('\n');

export interface Exported {
  code: number;
  stderr: string;
  directory: string;
  /** CPU seconds of the export and the service, because other programs affect wall time. */
  seconds: number;
  /** Run record, or the attempt's record if the run could not be finalized. */
  record: RunDocument | null;
  finalized: boolean;
}

// biome-ignore lint/suspicious/noExplicitAny: records of the archive as parsed JSON.
export type RunDocument = any;

/** Exports everything. */
export async function exportFrom(
  service: FaultyService,
  flags: string[] = [],
  directory = mkdtempSync(join(tmpdir(), 'faults-test-')),
): Promise<Exported> {
  writeFileSync(join(directory, 'evidence.yaml'), LIMITS);
  const began = process.cpuUsage();
  const { code, stderr, stdout } = await evidence(['export', '--all-time', '--request', RUN, ...flags], {
    cwd: directory,
    env: { EVIDENCE_AUDIT_URL: service.auditUrl, EVIDENCE_API_KEY: API_KEY },
  });
  const { user, system } = process.cpuUsage(began);
  const seconds = (user + system) / 1e6;
  expect(stderr + stdout, 'the API key is in what was printed').not.toContain(API_KEY);
  const finalized = existsSync(join(runFolder(directory), 'run.json'));
  return { code, stderr, directory, seconds, finalized, record: readRunRecord(directory, finalized) };
}

function runFolder(directory: string): string {
  return join(directory, 'evidence-archive', 'runs', RUN);
}

function readRunRecord(directory: string, finalized: boolean): RunDocument | null {
  if (finalized) return readJson(join(runFolder(directory), 'run.json'));
  const attempts = join(runFolder(directory), 'attempts');
  const [attempt] = existsSync(attempts) ? readdirSync(attempts) : [];
  return attempt === undefined ? null : readJson(join(attempts, attempt, 'attempt.json'));
}

function readJson(path: string): RunDocument {
  return JSON.parse(readFileSync(path, 'utf8'));
}

/** Returns the record of a finished stream. */
export function doneStream(directory: string, streamId: string): RunDocument | undefined {
  const folder = join(runFolder(directory), 'streams');
  if (!existsSync(folder)) return undefined;
  const records = readdirSync(folder).filter((name) => name.endsWith('.json'));
  return records.map((name) => readJson(join(folder, name))).find(({ stream_id }) => stream_id === streamId);
}

/** Starts a service, by default with the streams "good" and "bad". */
export async function startFaulty(context: TestContext, options: Partial<FaultyOptions>): Promise<FaultyService> {
  const streams = new Map([
    ['good', 5],
    ['bad', BAD_LENGTH],
  ]);
  const service = await startFaultyService({ apiKey: API_KEY, streams, fault: () => undefined, ...options });
  context.onTestFinished(() => service.close());
  return service;
}

/** Returns the names of a bag's files, without the bag's folder. */
export async function namesIn(bundle: string): Promise<string[]> {
  const names = await run('unzip', ['-Z1', bundle], tmpdir());
  return names.split('\n').map((name) => name.replace(/^[^/]+\//, ''));
}

export async function fileIn(bundle: string, name: string): Promise<Buffer> {
  const folder = mkdtempSync(join(tmpdir(), 'faults-bundle-'));
  await run('unzip', ['-q', bundle, '-d', folder], tmpdir());
  const [bag = ''] = readdirSync(folder);
  return readFileSync(join(folder, bag, name));
}
