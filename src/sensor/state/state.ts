import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { EvidenceError, isSystemError, messageOf } from '../../core/errors.ts';
import { type ReportHead, reportSha256 } from '../report/head.ts';
import type { BaitNotes } from './notes.ts';

const KEY = 'key.pem';
const CHAIN = 'chain.json';
const BAIT = 'bait.json';
const BAIT_FORMAT = 'evidence-endpoint-bait/1';
const CHAIN_FORMAT = 'evidence-endpoint-chain/1';
const REPORT = /^report-(\d+)\.json$/;
const LINES = /^lines-.*\.ndjson$/;

/** End of the chain of reports that the service has accepted. */
export interface ReportChain {
  endpoint_id: string;
  /** Number of the last report; 0 before the first. */
  sequence: number;
  report_sha256: string | null;
  /** Nonce for the next report. */
  nonce: string;
}

/** Signed report of which the sensor does not know whether the service has it. */
export interface SignedReport {
  head: ReportHead;
  signature: string;
}

/**
 * Persistent state of a sensor, in a folder that only its user may read:
 *
 * - `key.pem`: private key.
 * - `chain.json`: last accepted report.
 * - `bait.json`: places of bait, without content, and reads that the service does not know yet.
 * - `report-N.json` and `lines-SCAN.ndjson`: a report until it is accepted.
 *
 * `report-N.json` is created before report N is sent, and only if it does not exist. So no two reports are signed for
 * one sequence, whatever crashes and however many sensors run. After the service has accepted the report, `chain.json`
 * is replaced, and then `report-N.json` is removed.
 */
// Over ten members: each is a step that a crash may come after.
export class SensorState {
  readonly folder: string;
  readonly privateKey: KeyObject;

  /** @throws EvidenceError `config` if the folder cannot be used, `unreadable` if a file in it is damaged. */
  constructor(folder: string) {
    this.folder = folder;
    try {
      if (!existsSync(folder)) mkdirSync(folder, { mode: 0o700 });
      this.privateKey = readKey(folder);
    } catch (error) {
      if (!isSystemError(error)) throw error;
      throw new EvidenceError('config', `the sensor's folder ${folder} cannot be used: ${messageOf(error)}`, {
        nextStep: 'Name a folder with --state that this user can write to; its parent must exist.',
        cause: error,
      });
    }
  }

  /** Returns the end of the chain; null before the first report. */
  chain(): ReportChain | null {
    return readJson<ReportChain>(join(this.folder, CHAIN), CHAIN_FORMAT);
  }

  /** Returns the report that must be sent before anything else. */
  pending(): SignedReport | null {
    const [name] = readdirSync(this.folder).filter((file) => REPORT.test(file));
    return name === undefined ? null : readJson<SignedReport>(join(this.folder, name), null);
  }

  linesFile(scanId: string): string {
    return join(this.folder, `lines-${scanId}.ndjson`);
  }

  /**
   * Claims a sequence for a report, permanently.
   * @throws EvidenceError `config` if another sensor uses the same folder.
   */
  claim(report: SignedReport): void {
    const { sequence } = report.head;
    const isClaimed = claimFile(this.folder, reportName(sequence), `${JSON.stringify(report)}\n`);
    // Another sensor may have had its report accepted since; the chain then contains it.
    const isNext = (this.chain()?.sequence ?? 0) < sequence;
    if (isClaimed && isNext) return;
    if (isClaimed) rmSync(join(this.folder, reportName(sequence)));
    throw new EvidenceError('config', `another sensor is using the folder ${this.folder}; this one sent nothing`, {
      nextStep: 'Run one sensor per endpoint: by its timer or as a service, not both.',
    });
  }

  /** Records that the service has accepted a report. */
  accepted({ head }: SignedReport, nonce: string): void {
    const { endpoint_id, sequence } = head;
    this.#keep({ endpoint_id, sequence, report_sha256: reportSha256(head), nonce });
    this.drop();
  }

  /** Begins a chain as the service states it; earlier signed reports become void. */
  begin(chain: ReportChain): void {
    this.drop();
    this.#keep(chain);
  }

  /** Returns the planted bait. */
  bait(): BaitNotes {
    return readJson<BaitNotes>(join(this.folder, BAIT), BAIT_FORMAT) ?? { endpoint_id: null, planted: [], reads: [] };
  }

  keepBait(notes: BaitNotes): void {
    replaceFile(this.folder, BAIT, `${JSON.stringify({ format: BAIT_FORMAT, ...notes })}\n`);
  }

  /** Removes the chain, and the report that was not accepted. */
  forget(): void {
    rmSync(join(this.folder, CHAIN), { force: true });
    this.drop();
  }

  /** Removes the report that was not accepted, and leftovers of crashes. */
  drop(): void {
    const left = readdirSync(this.folder).filter((name) => [REPORT, LINES, HALF_WRITTEN].some((own) => own.test(name)));
    for (const name of left.sort(reportsFirst)) rmSync(join(this.folder, name), { force: true });
    flushFolder(this.folder);
  }

  #keep(chain: ReportChain): void {
    replaceFile(this.folder, CHAIN, `${JSON.stringify({ format: CHAIN_FORMAT, ...chain })}\n`);
  }
}

function reportName(sequence: number): string {
  return `report-${sequence}.json`;
}

/** Orders reports first, so that no report remains without its lines. */
function reportsFirst(one: string, other: string): number {
  return Number(REPORT.test(other)) - Number(REPORT.test(one));
}

function readKey(folder: string): KeyObject {
  const file = join(folder, KEY);
  if (!existsSync(file)) {
    const made = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' });
    claimFile(folder, KEY, made.toString());
  }
  const text = readFileSync(file, 'utf8');
  try {
    const key = createPrivateKey(text);
    if (key.asymmetricKeyType === 'ed25519') return key;
  } catch {
    // Reported below.
  }
  throw damaged(file);
}

function readJson<T extends object>(file: string, format: string | null): T | null {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (typeof value !== 'object' || value === null) throw damaged(file);
    const { format: found = null, ...members } = value as { format?: string };
    if (found !== format) throw damaged(file);
    return members as T;
  } catch (error) {
    if (isSystemError(error) && error.code === 'ENOENT') return null;
    throw error instanceof SyntaxError ? damaged(file) : error;
  }
}

function damaged(file: string): EvidenceError {
  return new EvidenceError('unreadable', `${file} is damaged; nothing was sent`, {
    nextStep:
      "Find out why. Then move the sensor's folder away, and restart the endpoint in the service, and state the reason.",
  });
}

/** Matches files that a crash left unfinished. */
const HALF_WRITTEN = /^\.sensor-\d+\.tmp$/;

/** Replaces a file atomically: after a crash, either version is complete. Only its owner may read it. */
export function replaceFile(folder: string, name: string, text: string): void {
  const half = writeHalf(folder, text);
  renameSync(half, join(folder, name));
  flushFolder(folder);
}

/** Creates a file. @returns false if it already exists. */
function claimFile(folder: string, name: string, text: string): boolean {
  const half = writeHalf(folder, text);
  try {
    linkSync(half, join(folder, name));
  } catch (error) {
    if (isSystemError(error) && error.code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(half);
  }
  flushFolder(folder);
  return true;
}

/** Flushes a folder, so that files added to and removed from it stay so after a crash. */
function flushFolder(folder: string): void {
  const fd = openSync(folder, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function writeHalf(folder: string, text: string): string {
  const half = join(folder, `.sensor-${process.pid}.tmp`);
  rmSync(half, { force: true });
  writeFileSync(half, text, { mode: 0o600, flag: 'wx', flush: true });
  return half;
}
