import { EvidenceError } from '../core/errors.ts';
import { type AcceptedReport, toAccepted, toNextPart } from './answers.ts';
import { type SensorAnswer, type SensorClient, said } from './client.ts';
import { readLineParts } from './lines.ts';
import { reportSha256 } from './report/head.ts';
import type { SignedReport } from './state/state.ts';

/** Maximum number of times that the service may request a part out of order: it lost its parts, or loops. */
const MOST_JUMPS = 5;

/** Statuses that, with a code, are refusals of the service itself, not of a proxy. */
const REFUSALS = new Set([400, 413, 422]);

/** Statuses for reports that do not continue the service's chain, or whose signature is not by the registered key. */
const CHAIN_ENDS = new Set([403, 409]);
/** Code of a 409 answer if another report came in between, so that this one has to be sent again. */
const WENT_ON = 'conflict';

/** End of the body after the lines. */
const END = ']}';

export type Delivery =
  | { delivered: AcceptedReport }
  /** The service will never accept the report, and kept nothing of it. */
  | { delivered: null; reason: string };

interface ReportDelivery {
  service: SensorClient;
  report: SignedReport;
  /** File that `LinesWriter` wrote. */
  linesFile: string;
  /** Root hash of the lines that the service already has. */
  knownRoot: string | null;
  clock: () => Date;
}

/**
 * Sends a report until the service has it: without lines if the service knows them, otherwise part by part.
 * @throws EvidenceError `chain` if the service does not continue this chain.
 */
export async function deliver({ service, report, linesFile, knownRoot, clock }: ReportDelivery): Promise<Delivery> {
  const { head } = report;
  const send = (part: number, lines: readonly Buffer[]) =>
    service.ask('/scans/report', bodyOf(report, part, lines, clock()));
  if (head.line_count > 0 && head.root_hash === knownRoot) {
    const answer = await send(1, []);
    if (answer.code !== 'lines_needed') return settle(answer, report);
  }
  let from = 1;
  for (let jumps = 0; jumps <= MOST_JUMPS; jumps++) {
    const answer = await sendFrom(from, linesFile, send);
    if (answer.code !== 'part_out_of_order') return settle(answer, report);
    from = toNextPart(answer.body);
  }
  return { delivered: null, reason: 'the service keeps asking for the same parts' };
}

/** Sends parts until an answer does anything other than request the next part. @returns that answer. */
async function sendFrom(
  from: number,
  linesFile: string,
  send: (part: number, lines: readonly Buffer[]) => Promise<SensorAnswer>,
): Promise<SensorAnswer> {
  let last: SensorAnswer | null = null;
  for await (const { part, lines } of readLineParts(linesFile, from)) {
    last = await send(part, lines);
    if (last.status !== 202 || toNextPart(last.body) !== part + 1) return last;
  }
  if (last !== null) return last;
  throw new EvidenceError('service', `the service asks for part ${from}, which the report does not have`);
}

function settle(answer: SensorAnswer, { head }: SignedReport): Delivery {
  const { status } = answer;
  if (status === 201) {
    const accepted = toAccepted(answer.body);
    const { next } = accepted;
    const own = reportSha256(head);
    if (accepted.reportSha256 !== own || next.previousReportSha256 !== own || next.sequence !== head.sequence + 1)
      throw new EvidenceError('service', `the service accepted a report other than report ${head.sequence}`);
    return { delivered: accepted };
  }
  if (CHAIN_ENDS.has(status) && answer.code !== WENT_ON) {
    throw new EvidenceError(
      'chain',
      `the service refuses to continue after report ${head.sequence - 1}${said(answer)}`,
      {
        nextStep:
          'Find out whether this machine was cloned or restored from a backup. Then restart the endpoint in the service, and state the reason.',
      },
    );
  }
  if (REFUSALS.has(status) && answer.code !== '') return { delivered: null, reason: `${status}${said(answer)}` };
  throw new EvidenceError('service', `the service answered report ${head.sequence} with ${status}${said(answer)}`, {
    nextStep: 'Check that --url names the endpoint service. The report is kept; the next run sends it again.',
  });
}

/** Assembles the body of a part. The lines are JSON already. */
function bodyOf({ head, signature }: SignedReport, part: number, lines: readonly Buffer[], now: Date): Buffer {
  const rest = JSON.stringify({ ...head, part, sent_at: now.toISOString(), signature });
  return Buffer.concat([Buffer.from(`${rest.slice(0, -1)},"lines":[`), ...lines, Buffer.from(END)]);
}
