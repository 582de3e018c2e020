import type { RunRecord } from '../../ledger/record.ts';
import type { Texts } from './texts.ts';
import { nameOf, plural } from './words.ts';

export interface CustodyStep {
  /** RFC 3339; empty where a step has no time of its own. */
  at: string;
  who: string;
  what: string;
}

/** Through whose hands the evidence went, in order. */
export function toCustody(record: RunRecord, sealed: boolean, { custody }: Texts): CustodyStep[] {
  const { operator, scope, source, tool, streams, started_at, finished_at, acceptances } = record;
  const person = nameOf(operator);
  const program = `${tool.name} ${tool.version}`;
  const bytes = streams.reduce((sum, { bundle }) => sum + bundle.bytes, 0);
  const steps: CustodyStep[] = acceptances.map(({ stream_id, reason, accepted_at, accepted_by }) => ({
    at: accepted_at,
    who: nameOf(accepted_by),
    what: `${custody.accepted}: ${stream_id}: ${reason}`,
  }));
  if (scope.requested_by !== null || scope.request !== null)
    steps.push({
      at: '',
      who: scope.requested_by ?? 'not stated',
      what: `${custody.requested}${scope.request === null ? '' : ` (${scope.request})`}`,
    });
  steps.push(
    { at: started_at, who: person, what: custody.started },
    { at: '', who: source.audit_url, what: custody.collected },
    {
      at: '',
      who: program,
      what: `${custody.archived}: ${plural(streams.length, 'bundle')}, ${plural(bytes, 'byte')}`,
    },
  );
  if (sealed)
    steps.push(
      { at: finished_at, who: program, what: custody.closed },
      { at: '', who: program, what: custody.reported },
    );
  return steps;
}
