import { generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { REPORT_FORMAT, type ReportHead, reportSha256 } from '../../../src/sensor/report/head.ts';
import type { EndpointLine, FileLine } from '../../../src/sensor/report/line.ts';
import { LINES_IN_A_PART, LineRoot, partsOf } from '../../../src/sensor/report/root.ts';
import { proveKey, signReport, toPublicKeyText } from '../../../src/sensor/report/signature.ts';

/** Members that the next report must have. */
export interface NextReport {
  sequence: number;
  previous_report_sha256: string | null;
  nonce: string;
}

/** A scan as a sensor sends it. */
export interface SentReport {
  head: ReportHead;
  signature: string;
  lines: readonly EndpointLine[];
}

/** Writes a sensor's reports without scanning. */
export class SensorDouble {
  readonly endpointId: string;
  readonly key: KeyObject;
  readonly publicKey: string;

  constructor(endpointId: string) {
    this.endpointId = endpointId;
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    this.key = privateKey;
    this.publicKey = toPublicKeyText(publicKey);
  }

  /** Returns the proof that the sensor has its key. */
  proof({ nonce }: NextReport): { public_key: string; proof: string } {
    const claim = { endpoint_id: this.endpointId, nonce, public_key: this.publicKey };
    return { public_key: this.publicKey, proof: proveKey(claim, this.key) };
  }

  /** Returns a signed report of lines at this time. */
  report(next: NextReport, lines: readonly EndpointLine[], at: number, more: Partial<ReportHead> = {}): SentReport {
    const root = new LineRoot();
    for (const line of lines) root.add(line);
    const time = new Date(at).toISOString();
    const head: ReportHead = {
      format: REPORT_FORMAT,
      scan_id: randomUUID(),
      endpoint_id: this.endpointId,
      sequence: next.sequence,
      previous_report_sha256: next.previous_report_sha256,
      nonce: next.nonce,
      boot_id: 'a boot',
      started_at: time,
      finished_at: time,
      roots: ['/usr/bin'],
      complete: true,
      line_count: root.count,
      root_hash: root.root(),
      parts: partsOf(root.count),
      ...more,
    };
    return this.signed(head, lines);
  }

  signed(head: ReportHead, lines: readonly EndpointLine[]): SentReport {
    return { head, signature: signReport(head, this.key), lines };
  }
}

/** Returns the body of a part of a report. */
export function partOf({ head, signature, lines }: SentReport, part = 1) {
  const from = (part - 1) * LINES_IN_A_PART;
  return { ...head, part, lines: lines.slice(from, from + LINES_IN_A_PART), signature };
}

/** Returns the body of a report whose lines the service knows. */
export function withoutLines({ head, signature }: SentReport) {
  return { ...head, part: 1, lines: [], signature };
}

/** Returns the members that the report after this one must have. */
export function nextAfter({ head }: SentReport, nonce: string): NextReport {
  return { sequence: head.sequence + 1, previous_report_sha256: reportSha256(head), nonce };
}

const OWNERS = { mode: '0755', uid: 0, gid: 0 };

/** Returns a file with this content. */
export function file(path: string, content = 'a', more: Partial<FileLine> = {}): EndpointLine {
  const sha256 = Buffer.from(content.padEnd(32, '\0')).toString('hex').slice(0, 64);
  return { path, type: 'file', sha256, size: content.length, ...OWNERS, ...more } as EndpointLine;
}

export function link(path: string, target: string): EndpointLine {
  return { path, type: 'link', target, ...OWNERS };
}

/** Returns many files. */
export function files(count: number, content = 'a'): EndpointLine[] {
  return Array.from({ length: count }, (_, at) => file(`/usr/bin/${String(at).padStart(7, '0')}`, `${content}${at}`));
}
