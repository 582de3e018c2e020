import { grouped, plural } from '../../../core/plurals.ts';
import type { Rows } from '../../../core/rows/rows.ts';
import { escapeControls } from '../../../core/terminal/visible.ts';
import { CLAIMS, type ClaimName, type ReportedClaim } from '../../../verifier/claims/claim.ts';
import { type ClaimRow, MARKS } from './claims-table.ts';

const REASONS_SHOWN = 5;

/**
 * Explains the marks; why what is unproved is, and where a proof ends: each once, with the number of its streams.
 * Claims of which the same is to be said stand together.
 */
export function formatLegend(rows: Rows<ClaimRow>): string {
  const isOpened = rows.every(({ claims }) => CLAIMS.every((name) => claims[name].state !== 'recorded'));
  const lines = [`✓ proved   ✗ refuted   – unproved${isOpened ? '' : '   ? recorded, not derived here'}`];
  const remarks = CLAIMS.flatMap((name) => remarksOn(name, rows));
  const same = Map.groupBy(remarks, ({ mark, says }) => `${mark} ${says}`);
  for (const [first, ...others] of same.values())
    if (first !== undefined)
      lines.push(
        escapeControls(`${first.mark} ${[first, ...others].map(({ name }) => name).join(', ')}: ${first.says}`),
      );
  return [...lines, ...sayUnanchored(rows)].join('\n');
}

interface Remark {
  mark: string;
  name: ClaimName;
  says: string;
}

/** Returns the remarks on one claim. */
function remarksOn(name: ClaimName, rows: Rows<ClaimRow>): Remark[] {
  const counts = new Map<string, { mark: string; text: string; streams: number }>();
  for (const { claims } of rows) {
    const text = remarkOn(name, claims[name]);
    const mark = MARKS[claims[name].state];
    if (text === null) continue;
    const counted = counts.get(`${mark} ${text}`) ?? { mark, text, streams: 0 };
    counts.set(`${mark} ${text}`, { ...counted, streams: counted.streams + 1 });
  }
  const shown = [...counts.values()].slice(0, REASONS_SHOWN);
  const left = counts.size - shown.length;
  return [
    ...shown.map(({ mark, text, streams }) => ({ mark, name, says: `${text} (${plural(streams, 'stream')})` })),
    ...(left > 0 ? [{ mark: MARKS.unproved, name, says: `and ${left} other reasons` }] : []),
  ];
}

function remarkOn(name: ClaimName, claim: ReportedClaim): string | null {
  const { state, basis, recorded, reason = 'no reason is recorded', not_covered, by_contract } = claim;
  if (state === 'recorded') return reason;
  if (state === 'unproved')
    return recorded === undefined ? reason : `recorded as ${recorded}, not checked here: ${reason}`;
  const remarks = [
    // Names the forms that agree, and on what: a form that could not be read proves nothing.
    ...(name === 'agreement' && state === 'proved' && basis !== undefined ? [basis] : []),
    ...(by_contract === undefined ? [] : [by_contract]),
    ...(not_covered === undefined ? [] : [`digests do not cover ${not_covered.join(', ')}`]),
  ];
  return remarks.length === 0 ? null : remarks.join('; ');
}

/** Counts the entries that a proved anchor says nothing about. */
function sayUnanchored(rows: Rows<ClaimRow>): string[] {
  const open = rows.flatMap(({ stream_id, claims: { anchor } }) => {
    const { state, anchored_through: through, entries_after_last_anchor: after = 0 } = anchor;
    return state === 'proved' && after > 0 ? [{ stream_id, through, after }] : [];
  });
  if (open.length === 0) return [];
  const entries = open.reduce((sum, { after }) => sum + after, 0);
  const named = open
    .slice(0, REASONS_SHOWN)
    .map(({ stream_id, through, after }) => `${grouped(after)} in ${stream_id}, after entry ${through}`);
  const more = open.length > named.length ? ` and ${plural(open.length - named.length, 'other stream')}` : '';
  const where = `${plural(entries, 'entry')} in ${plural(open.length, 'stream')}`;
  return [escapeControls(`${MARKS.proved} anchor: time-stamps do not cover ${where}: ${named.join('; ')}${more}`)];
}
