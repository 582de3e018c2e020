import { nameUnseen } from '../../../core/html/unseen.ts';
import { agree, grouped, plural } from '../../../core/plurals.ts';
import type { Result } from '../messages.ts';

const SHOWN = 50;

/** Returns the elements that show a verification result below the bundle's name. */
export function resultOf(result: Result, belonging: Belonging): Node[] {
  const { tone, word, sentences } = headlineOf(result, belonging);
  return [
    element(
      'div',
      { class: `verdict ${tone}` },
      element('b', {}, word),
      ...sentences.map((sentence) => element('p', {}, isolated(sentence))),
      element('p', {}, isolated(describe(result, belonging))),
    ),
    ...list(result.bundleFindings.map(({ code, message }) => `${code}: ${message}`)),
    ...claimTable(result),
    ...list(
      result.findings.map(({ severity, code, message }) => `${severity}, ${code}: ${message}`),
      result.findingsCount,
    ),
  ];
}

function describe({ runId, streamId, bundleFindings }: Result, belonging: Belonging): string {
  switch (belonging) {
    case 'listed':
      return bundleFindings.length > 0
        ? 'Its manifest matches the one in this report.'
        : 'Its identity matches the bundle in this report.';
    case 'replaced':
      return `It claims to be of this run, ${runId}, but this report lists another bundle for its stream, ${streamId}.`;
    case 'stray':
      return `It claims to be of this run, ${runId}, but this report does not list its stream, ${streamId}.`;
    case 'elsewhere':
      return `This report does not list it. It claims to be of another run, ${runId}.`;
    case 'unknown':
      return 'It is unknown whether it belongs to this run.';
  }
}

function claimTable({ claims }: Result): HTMLElement[] {
  if (claims.length === 0) return [];
  const head = ['Claim', 'Here', 'Why', 'Stated in the bundle'].map((text) => element('th', { scope: 'col' }, text));
  const rows = claims.map(({ name, state, why, elsewhere, stated }) =>
    element(
      'tr',
      {},
      element('th', { scope: 'row' }, name),
      element('td', { class: `status ${state}` }, state),
      element('td', {}, isolated(why), elsewhere === null ? null : element('p', { class: 'minor' }, elsewhere)),
      element('td', { class: stated === 'refuted' ? 'refuted' : 'unproved' }, stated ?? 'nothing'),
    ),
  );
  const table = element('table', {}, element('thead', {}, element('tr', {}, ...head)), element('tbody', {}, ...rows));
  return [element('div', { class: 'wide', tabindex: '0', role: 'group', 'aria-label': 'Claims' }, table)];
}

function list(lines: readonly string[], all = lines.length): HTMLElement[] {
  if (lines.length === 0) return [];
  const items = lines.slice(0, SHOWN).map((line) => element('li', {}, isolated(line)));
  const more = all - items.length;
  return [element('ul', {}, ...items, more > 0 ? element('li', {}, `and ${grouped(more)} more`) : null)];
}

interface Headline {
  tone: 'calm' | 'alarm' | 'caution';
  word: string;
  sentences: string[];
}

/** Summarizes a result in one word and a few sentences, and never claims more than was proved. */
function headlineOf(result: Result, belonging: Belonging): Headline {
  const { bundleFindings, status, streamId, entries } = result;
  if (bundleFindings.length > 0)
    return {
      tone: 'alarm',
      word: status === null ? 'NOT A SOUND BUNDLE' : 'NOT WHAT IT STATES',
      sentences: [
        `${plural(bundleFindings.length, 'finding')}: the bundle was changed or is incomplete. Do not rely on it; fetch it again from the archive.`,
      ],
    };
  const what = `Every file matches the manifest. Stream ${streamId ?? 'unknown'}, ${plural(entries, 'entry')}.`;
  if (status === 'refuted') return { tone: 'alarm', word: 'REFUTED', sentences: [what, refutation(result)] };
  if (belonging === 'replaced' || belonging === 'stray')
    return {
      tone: 'alarm',
      word: 'NOT THE BUNDLE OF THIS RUN',
      sentences: ['Do not rely on it; fetch the bundle again from the archive.', what],
    };
  const sums = sumsOf(result);
  if (status === 'empty')
    return { tone: 'caution', word: 'NOTHING CHECKED', sentences: [what, 'There is no entry to check.'] };
  if (status === 'incomplete')
    return {
      tone: 'caution',
      word: 'INCOMPLETE',
      sentences: [what, ...sums, 'A form is missing, or a required claim is not proved here.'],
    };
  const word = status === 'collected' ? 'COLLECTED' : 'VERIFIED HERE';
  // Anyone could have made a bundle that this report does not list, however sound it is.
  if (belonging !== 'listed') return { tone: 'caution', word, sentences: [what, ...sums, UNKNOWN_MAKER] };
  return { tone: status === 'verified' ? 'calm' : 'caution', word, sentences: [what, ...sums] };
}

const UNKNOWN_MAKER = 'This check does not show who made it.';

/** Lists the claims that are proved here, and always those that are not. */
function sumsOf({ claims }: Result): string[] {
  const namesOf = (state: Result['claims'][number]['state']) =>
    claims.filter((claim) => claim.state === state).map(({ name }) => name);
  const [open, recorded] = [namesOf('unproved'), namesOf('recorded')];
  const proved = namesOf('proved').length;
  return [
    `${grouped(proved)} of ${plural(claims.length, 'claim')} ${agree(proved, 'is', 'are')} proved here, and none is refuted.`,
    ...(open.length === 0 ? [] : [`Not proved here: ${open.join(', ')}.`]),
    ...(recorded.length === 0 ? [] : [`Recorded by the export, not checked here: ${recorded.join(', ')}.`]),
  ];
}

function refutation({ claims, refutation: recorded }: Result): string {
  const here = claims.filter(({ state }) => state === 'refuted').map(({ name }) => name);
  if (here.length > 0) return `Refuted here: ${here.join(', ')}.`;
  return `The bundle states that it was ${recorded ?? 'refuted'}.`;
}

/**
 * Relation of a bundle to this report, by its identity: the digest of its manifest, under any file name.
 * - `listed`: the report lists this bundle.
 * - `replaced`: it states that it belongs to this run, and the report lists another bundle for its stream.
 * - `stray`: it states that it belongs to this run, and the report lists no such stream.
 * - `elsewhere`: it states that it belongs to another run.
 * - `unknown`: nothing shows which run it belongs to.
 */
type Belonging = 'listed' | 'replaced' | 'stray' | 'elsewhere' | 'unknown';

export function belongingOf({ identity, runId, streamId }: Result, ownRun: string): Belonging {
  if (identity === null || !/^[0-9a-f]{64}$/.test(identity)) return 'unknown';
  const leftOut = streamsLeftOut();
  if (document.querySelector(`tr[data-identity="${identity}"]`) !== null || leftOut.has(identity)) return 'listed';
  if (runId === null || streamId === null) return 'unknown';
  if (nameUnseen(runId) !== nameUnseen(ownRun)) return 'elsewhere';
  // Compares names as displayed, so that a stream that only looks like a listed one raises the alarm too.
  return listedNames(leftOut.values()).has(nameUnseen(streamId)) ? 'replaced' : 'stray';
}

function listedNames(more: Iterable<string>): Set<string> {
  const names = document.querySelectorAll('tr[data-identity] summary');
  return new Set([...Array.from(names, ({ textContent }) => textContent ?? ''), ...more].map(nameUnseen));
}

/** Returns stream names by bundle identity for the streams that the table leaves out. */
function streamsLeftOut(): ReadonlyMap<string, string> {
  const lines = document.querySelector('#identities')?.textContent.trim().split('\n') ?? [];
  return new Map(lines.map((line) => JSON.parse(line) as [identity: string, streamId: string]));
}

type Child = Node | string | null;

/** Creates an element with attributes and children. Strings become text nodes and are never parsed as HTML. */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Readonly<Record<string, string>>,
  ...children: Child[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children.filter((child) => child !== null));
  return made;
}

/** Wraps text from outside in `bdi`, which isolates its direction, and makes invisible characters visible. */
export function isolated(text: string): HTMLElement {
  return element('bdi', {}, nameUnseen(text));
}
