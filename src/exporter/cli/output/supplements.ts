import { grouped, plural } from '../../../core/plurals.ts';
import { type OutputLine, type Printer, styled } from '../../../core/terminal/printer.ts';
import type { KindCounts, SupplementsStatement } from '../../../verifier/supplements/document.ts';
import { KIND_NAMES, RECORD_KINDS } from '../../../verifier/supplements/files.ts';
import { nextStepOf } from '../../next-steps.ts';

const FINDINGS_SHOWN = 10;
const LABEL = 'Supplements   ';

/** Prints a line for each other service, with its records by state. */
export function printSupplements(supplements: SupplementsStatement | null, printer: Printer): void {
  if (supplements === null) return;
  let label = LABEL;
  const say = (line: OutputLine) => {
    printer.result([label, ...[line].flat()]);
    label = ' '.repeat(LABEL.length);
  };
  for (const [service, state] of Object.entries(supplements.services)) {
    if (state.state === 'missing') {
      say([styled(`${service} missing`, 'red'), `: ${state.reason}`]);
      say(`  ${state.next_step}`);
    } else if (state.state === 'collected') {
      const kinds = kindsOf(service, supplements.kinds);
      say(
        `${service}: ${kinds.length === 0 ? 'statistics' : kinds.map(([kind, counts]) => sayKind(kind, counts)).join('; ')}`,
      );
    }
  }
  printFindings(supplements, printer);
}

function kindsOf(service: string, kinds: SupplementsStatement['kinds']): [kind: string, counts: KindCounts][] {
  return KIND_NAMES.flatMap((kind) => {
    const counts = kinds[kind];
    return counts === undefined || RECORD_KINDS[kind] !== service ? [] : [[kind, counts] as [string, KindCounts]];
  });
}

/** Kinds have plural names. */
function singularOf(kind: string): string {
  return kind.replace(/s$/, '');
}

function sayKind(kind: string, counts: KindCounts): string {
  const states = [
    [counts.proved_by_entry, 'proved by entry'],
    [counts.contradicted, 'contradicted'],
    [counts.unproved, 'unproved'],
    [counts.no_entry, 'no entry'],
    [counts.missing, 'missing'],
  ] as const;
  const told = states.filter(([count]) => count > 0).map(([count, words]) => `${grouped(count)} ${words}`);
  return `${plural(counts.in_period, singularOf(kind))}${told.length === 0 ? '' : ` (${told.join(', ')})`}`;
}

function printFindings({ findings, findings_count }: SupplementsStatement, printer: Printer): void {
  for (const { code, severity, kind, id, message } of findings.slice(0, FINDINGS_SHOWN)) {
    printer.result([styled(code, severity === 'error' ? 'red' : 'yellow'), ` ${kind} ${id}: ${message}`]);
    printer.result(`  ${nextStepOf({ code })}`);
  }
  const more = findings_count - Math.min(findings.length, FINDINGS_SHOWN);
  if (more > 0) printer.result(`… and ${plural(more, 'more supplement finding')}; --json lists the first of them.`);
}
