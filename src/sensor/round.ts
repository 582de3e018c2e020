import { createPublicKey, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { EvidenceError } from '../core/errors.ts';
import { type AcceptedReport, type SensorSettings, toSettings } from './answers.ts';
import type { BaitKeeper } from './bait/keeper.ts';
import { type SensorClient, said } from './client.ts';
import { deliver } from './delivery.ts';
import { LinesWriter } from './lines.ts';
import { REPORT_FORMAT, type ReportHead, reportSha256 } from './report/head.ts';
import { partsOf } from './report/root.ts';
import { proveKey, signReport, toPublicKeyText } from './report/signature.ts';
import type { ReadingPace } from './scan/pace.ts';
import { type ScanResult, scan } from './scan/scan.ts';
import type { ReportChain, SensorState, SignedReport } from './state/state.ts';

export interface SensorDeps {
  state: SensorState;
  service: SensorClient;
  /** Creates the pace of each scan. */
  pace: () => ReadingPace;
  clock: () => Date;
  bait: BaitKeeper;
  /** Id of the machine's current boot. */
  bootId: string;
}

export interface RoundResult {
  settings: SensorSettings;
  /** Failed reports and actions about bait. */
  problems: string[];
  scanned: ScanResult;
  accepted: AcceptedReport;
}

/**
 * Runs one round: inspects bait, sends a report again if its arrival is unknown, then scans and reports everything.
 * @throws EvidenceError `chain` if a person has to investigate: see `deliver`.
 */
export async function runRound(deps: SensorDeps): Promise<RoundResult> {
  const { state, service } = deps;
  const settings = await readSettings(service);
  const problems = await deps.bait.tend(settings);
  const chain = await joinChain(settings, deps);
  const waiting = state.pending();
  const current = waiting === null ? chain : await sendWaiting(waiting, chain, settings, deps);
  const scanned = await scanAndSign(settings, current, deps);
  const accepted = await hand(scanned.report, settings, deps);
  return { settings, problems, scanned: scanned.result, accepted };
}

async function readSettings(service: SensorClient): Promise<SensorSettings> {
  const answer = await service.ask('/sensor/settings');
  if (answer.status === 200) return toSettings(answer.body);
  throw new EvidenceError('service', `the service sent no settings: ${answer.status}${said(answer)}`, {
    nextStep: 'Check that --url names the endpoint service, e.g. https://evidence.example.org/endpoints.',
  });
}

/**
 * Returns the chain that the next report continues. This is the sensor's own chain, which another machine with its key
 * does not share. Without one, the service's chain is adopted: before the first report, and after a person has
 * restarted the endpoint.
 */
async function joinChain(settings: SensorSettings, deps: SensorDeps): Promise<ReportChain> {
  const { state, service } = deps;
  const chain = state.chain();
  if (chain !== null && chain.endpoint_id !== settings.endpointId) {
    throw new EvidenceError(
      'config',
      `${state.folder} belongs to endpoint ${chain.endpoint_id}, but the token does not`,
      {
        nextStep: 'Give the token of that endpoint, or another folder with --state.',
      },
    );
  }
  const isKnown = settings.publicKey === publicKeyOf(state);
  if (isKnown && chain !== null) return chain;
  if (!isKnown) {
    // Done first, so that after a crash the previous chain is not continued.
    state.forget();
    await registerKey(settings, deps);
  }
  const { sequence, previousReportSha256, nonce } = isKnown ? settings.next : (await readSettings(service)).next;
  const begun = {
    endpoint_id: settings.endpointId,
    sequence: sequence - 1,
    report_sha256: previousReportSha256,
    nonce,
  };
  state.begin(begun);
  return begun;
}

async function registerKey({ endpointId, next }: SensorSettings, { state, service }: SensorDeps): Promise<void> {
  const claim = { endpoint_id: endpointId, nonce: next.nonce, public_key: publicKeyOf(state) };
  const body = JSON.stringify({ public_key: claim.public_key, proof: proveKey(claim, state.privateKey) });
  const answer = await service.ask('/sensor/key', body);
  if (answer.status >= 200 && answer.status < 300) return;
  throw new EvidenceError('chain', `the service refused this sensor's key${said(answer)}`, {
    nextStep:
      'Find out why this machine has a different key. Then restart the endpoint in the service, and state the reason.',
  });
}

function publicKeyOf({ privateKey }: SensorState): string {
  return toPublicKeyText(createPublicKey(privateKey));
}

/** @returns the chain after a report that may already have arrived. */
async function sendWaiting(
  report: SignedReport,
  chain: ReportChain,
  settings: SensorSettings,
  deps: SensorDeps,
): Promise<ReportChain> {
  const { state } = deps;
  // The sensor crashed after it stored the service's answer and before it removed the report.
  if (report.head.sequence <= chain.sequence) state.drop();
  // The service's answer was lost.
  else if (settings.next.previousReportSha256 === reportSha256(report.head))
    state.accepted(report, settings.next.nonce);
  else await hand(report, settings, deps).catch(unlessRefused);
  return state.chain() ?? chain;
}

/** Ignores the refusal of a report that the service will never accept; another report takes its sequence. */
function unlessRefused(error: unknown): void {
  if (!(error instanceof ReportRefused)) throw error;
}

/** Permanent refusal of a report, of which the service kept nothing. */
class ReportRefused extends EvidenceError {}

/** Sends a report, and records that the service has it. */
async function hand(report: SignedReport, settings: SensorSettings, deps: SensorDeps): Promise<AcceptedReport> {
  const { state, service, clock } = deps;
  const { scan_id, sequence } = report.head;
  const linesFile = state.linesFile(scan_id);
  const isWhole = existsSync(linesFile);
  const outcome = isWhole
    ? await deliver({ service, report, linesFile, knownRoot: settings.lastRootHash, clock })
    : { delivered: null, reason: `${linesFile} is gone` };
  if (outcome.delivered === null) {
    state.drop();
    throw new ReportRefused('service', `report ${sequence} was not accepted: ${outcome.reason}`, {
      nextStep:
        'The report was discarded, and the next run scans again. If this repeats, upgrade the sensor or the service.',
    });
  }
  state.accepted(report, outcome.delivered.next.nonce);
  return outcome.delivered;
}

async function scanAndSign(
  { roots, otherFilesystems, endpointId }: SensorSettings,
  chain: ReportChain,
  { state, pace, clock, bootId }: SensorDeps,
): Promise<{ report: SignedReport; result: ScanResult }> {
  state.drop();
  const scanId = randomUUID();
  const startedAt = clock().toISOString();
  using lines = new LinesWriter(state.linesFile(scanId));
  const result = await scan({ roots, otherFilesystems, pace: pace(), write: (text) => lines.write(text) });
  lines.finish();
  const head: ReportHead = {
    format: REPORT_FORMAT,
    scan_id: scanId,
    endpoint_id: endpointId,
    sequence: chain.sequence + 1,
    previous_report_sha256: chain.report_sha256,
    nonce: chain.nonce,
    boot_id: bootId,
    started_at: startedAt,
    finished_at: clock().toISOString(),
    roots,
    complete: result.complete,
    line_count: result.lineCount,
    root_hash: result.rootHash,
    parts: partsOf(result.lineCount),
  };
  const report = { head, signature: signReport(head, state.privateKey) };
  state.claim(report);
  return { report, result };
}
