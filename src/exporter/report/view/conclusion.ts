import { grouped, plural } from '../../../core/plurals.ts';
import type { Rows } from '../../../core/rows/rows.ts';
import { CLAIMS, type ClaimName, refutedIn } from '../../../verifier/claims/claim.ts';
import type { RunRecord, RunStream } from '../../../verifier/records/record.ts';
import { countsFor, isReceivedWhole } from './claims.ts';
import { isAccepted, type Missing, toMissing } from './missing.ts';
import { sayMissing } from './population.ts';
import { fill } from './sentences.ts';
import type { Texts } from './texts.ts';

/** Condition that every stream must meet for the extract to be complete and accurate. */
interface Condition {
  text: string;
  holds: number;
  of: number;
}

/** Returns the conclusion on completeness and accuracy: first the summary sentence, then each condition. */
export function toConclusion(record: RunRecord, { conclusion: texts, population }: Texts): string[] {
  const { streams, failed } = record;
  const missing = toMissing(record);
  const conditions = conditionsOf(streams, failed.length, texts);
  const refuted = refutedIn(streams).map(({ name }) => name);
  const open = conditions.filter(({ holds, of }) => holds < of);
  return [
    sentenceOf({ conditions, open, missing, refuted }, texts),
    ...conditions.map(({ text, holds, of }) => `${text}: ${grouped(holds)} of ${grouped(of)}`),
    sayMissing(missing, population),
  ];
}

function conditionsOf(streams: Rows<RunStream>, failed: number, texts: Texts['conclusion']): Condition[] {
  // Failed streams count as not meeting the condition, because nothing is known about them.
  const proved = (text: string, name: ClaimName, isLeftOut: (stream: RunStream) => boolean = () => false): Tested => ({
    condition: { text, holds: 0, of: failed },
    counts: (stream) => countsFor(name, stream),
    holds: (stream) => stream.claims[name].state === 'proved' && !isLeftOut(stream),
  });
  const all: Tested[] = [
    { condition: { text: texts.received, holds: 0, of: failed }, counts: () => true, holds: isReceivedWhole },
    proved(texts.listing, 'completeness'),
    proved(texts.order, 'order'),
    proved(texts.content, 'content'),
    proved(texts.continuity, 'continuity', isAccepted),
    {
      condition: { text: texts.unrefuted, holds: 0, of: 0 },
      counts: () => true,
      holds: ({ claims }) => CLAIMS.every((name) => claims[name].state !== 'refuted'),
    },
  ];
  for (const stream of streams)
    for (const { condition, counts, holds } of all) {
      if (!counts(stream)) continue;
      condition.of++;
      if (holds(stream)) condition.holds++;
    }
  return all.map(({ condition }) => condition);
}

/** Condition with the predicate for streams that it applies to and the predicate for streams that meet it. */
interface Tested {
  condition: Condition;
  counts: (stream: RunStream) => boolean;
  holds: (stream: RunStream) => boolean;
}

interface Known {
  conditions: readonly Condition[];
  open: readonly Condition[];
  missing: Missing;
  refuted: readonly ClaimName[];
}

function sentenceOf({ conditions, open, missing, refuted }: Known, texts: Texts['conclusion']): string {
  const isMissing = missing.entries + missing.vanished + missing.failed > 0;
  const [received, listing] = conditions;
  if (isMissing) return texts.is_missing;
  if (refuted.length > 0) return fill(texts.refuted, { claims: refuted.join(', ') });
  if (received === undefined || received.of === 0 || listing?.of === 0) return texts.nothing;
  if (open.length > 0) return texts.open;
  return fill(missing.accepted > 0 ? texts.accepted : texts.holds, { streams: plural(received.of, 'stream') });
}
