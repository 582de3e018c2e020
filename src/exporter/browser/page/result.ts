import { grouped } from '../../../core/plurals.ts';
import type { Result } from '../messages.ts';
import type { Belonging } from './belonging.ts';
import { element, isolated } from './elements.ts';
import { headlineOf } from './headline.ts';

const SHOWN = 50;

/** Returns the result of a verification, to stand under the bundle's name. */
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
        ? 'Its manifest is the one that this report lists for the stream.'
        : 'It is the bundle that this report lists for the stream, by its identity.';
    case 'replaced':
      return `It states that it is of this run, ${runId}. For its stream, ${streamId}, this report lists another bundle.`;
    case 'stray':
      return `It states that it is of this run, ${runId}. This report does not list its stream, ${streamId}.`;
    case 'elsewhere':
      return `This report does not list it: it states that it is of another run, ${runId}.`;
    case 'unknown':
      return 'It cannot be told whether it belongs to this run.';
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
