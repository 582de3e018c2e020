import type { ErrorCode } from '../../../core/errors.ts';
import { plural } from '../../../core/plurals.ts';
import { type Printer, type Styled, styled } from '../../../core/terminal/printer.ts';
import type { Vanished } from '../../../verifier/records/record.ts';
import { nextStepOf } from '../../next-steps.ts';

/** Cause of a failure: what is wrong, the stream, and the next step. */
export interface Cause {
  what: Styled;
  streamId: string;
  /** Failures of one code are one cause, whatever each of them says; causes without a code are one if they say the same. */
  code?: ErrorCode | null;
  message: string;
  nextStep: string;
}

/** The cause that a finding is. */
export function toCause(finding: Vanished['finding']): Cause {
  const { code, severity, stream_id: streamId, message } = finding;
  const what = styled(code, severity === 'error' ? 'red' : 'yellow');
  return { what, streamId, message, nextStep: nextStepOf(finding) };
}

const STREAMS_NAMED = 5;

/** Prints each cause once, with the streams that it affects: an unreachable service is one cause for all of them. */
export function printCauses(causes: readonly Cause[], printer: Printer, limit = Number.POSITIVE_INFINITY): void {
  const groups = [
    ...Map.groupBy(causes, ({ what, code, message, nextStep }) =>
      JSON.stringify([what.text, code ?? message, nextStep]),
    ).values(),
  ];
  for (const [first, ...others] of groups.slice(0, limit)) {
    if (first === undefined) continue;
    if (others.length === 0) printer.result([first.what, ` ${first.streamId}: ${first.message}`]);
    else {
      const all = [first, ...others];
      const example = others.every(({ message }) => message === first.message) ? '' : `, as ${first.streamId}`;
      printer.result([first.what, ` ${plural(all.length, 'stream')}${example}: ${first.message}`]);
      const named = all.slice(0, STREAMS_NAMED).map(({ streamId }) => streamId);
      const more = all.length - named.length;
      printer.result(`  ${named.join(', ')}${more > 0 ? ` and ${plural(more, 'other')}; --json lists all` : ''}`);
    }
    if (first.nextStep !== '') printer.result(`  ${first.nextStep}`);
  }
  const left = groups.slice(limit).flat().length;
  if (left > 0) printer.result(`… and ${left} more; --json lists all.`);
}
