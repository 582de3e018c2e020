import { type EvidenceError, isEvidenceError } from '../../../core/errors.ts';
import { plural } from '../../../core/plurals.ts';
import { exitCodeOf } from '../../../core/terminal/exit.ts';
import type { CommandContext } from '../command.ts';
import { printTrust } from '../output/trust-report.ts';
import { printError, printTarget, type VerifiedTarget } from '../output/verify-report.ts';

/** The result for one of several targets: an error where it could not be looked at, which keeps none of the others. */
type Ended = { target: string } & (VerifiedTarget | { error: EvidenceError });

/** The worst first: what was found refuted, then what could not be looked at, then what is not proved. */
const BY_SEVERITY = [1, 2, 5, 3, 4, 0];

/** Verifies one after the other: a line each, more of what has something amiss, and the worst exit code. */
export async function verifyEach(
  targets: readonly string[],
  verifyTarget: (target: string) => Promise<VerifiedTarget>,
  { printer, signal }: CommandContext,
): Promise<number> {
  const ended: Ended[] = [];
  let said = '';
  for (const target of targets) {
    signal.throwIfAborted();
    const one = await tryOne(target, verifyTarget, signal);
    ended.push(one);
    if ('error' in one) {
      printError(target, one.error, printer);
      continue;
    }
    // It is the same for most of them.
    const trust = JSON.stringify(one.trust);
    if (trust !== said) printTrust(one.trust, printer);
    said = trust;
    printTarget(target, one.report, printer);
  }
  const codes = ended.map(codeOf);
  const code = BY_SEVERITY.find((severity) => codes.includes(severity)) ?? 0;
  printer.document('evidence-verify-several/1', { exit_code: code, targets: ended.map(toDocument) });
  printer.result(
    `Together      ${plural(targets.length, 'target')}: exit code 0 for ${codes.filter((one) => one === 0).length} of them (exit code ${code} for all)`,
  );
  return code;
}

async function tryOne(
  target: string,
  verifyTarget: (target: string) => Promise<VerifiedTarget>,
  signal: AbortSignal,
): Promise<Ended> {
  try {
    return { target, ...(await verifyTarget(target)) };
  } catch (error) {
    if (signal.aborted || !isEvidenceError(error)) throw error;
    return { target, error };
  }
}

function codeOf(ended: Ended): number {
  return 'error' in ended ? exitCodeOf(ended.error.code) : ended.report.exit_code;
}

function toDocument(ended: Ended) {
  const { target } = ended;
  if ('error' in ended) {
    const { code, message, nextStep = null } = ended.error;
    return { target, exit_code: codeOf(ended), error: { code, message, next_step: nextStep } };
  }
  const { contracts: _contracts, ...found } = ended.report;
  return { target, trust: ended.trust, ...found };
}
