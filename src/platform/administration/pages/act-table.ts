import { type Markup, markup, name } from '../../../core/html/markup.ts';
import { dataTable, emptyState, moment } from '../../web/components.ts';
import type { AdministrationService } from '../service.ts';
import { type Names, type Reference, referenceOf } from './names.ts';

type RecordedAct = Awaited<ReturnType<AdministrationService['acts']>>['data'][number];

/** Returns what acts refer to by id. */
export function referencesIn(acts: readonly RecordedAct[]): Reference[] {
  return acts.flatMap((act) => [referenceOf(act.actor), subjectOf(act)]);
}

export function actTable(acts: readonly RecordedAct[], names: Names, now: Date): Markup {
  return dataTable({
    caption: 'Administrative acts',
    columns: [
      { head: 'Act', kind: 'name', cell: ({ action }) => name(inWords(action)) },
      { head: 'To', cell: (act) => toOf(act, names) },
      { head: 'By', cell: ({ actor }) => names.show(referenceOf(actor), actor) },
      { head: 'Details', cell: ({ metadata }) => moreOf(metadata) },
      { head: 'When', cell: ({ timestamp }) => moment(timestamp, now) },
      { head: 'Entry', kind: 'number', cell: ({ sequence }) => sequence },
    ],
    rows: acts,
    empty: emptyState('No acts yet.'),
  });
}

/** Renders an act as one line. */
export function actLine(act: RecordedAct, names: Names): Markup {
  const by = names.show(referenceOf(act.actor), act.actor);
  return markup`${name(inWords(act.action))}: ${toOf(act, names)}, by ${by}`;
}

/** Returns an action such as `person.role_changed` in words. */
function inWords(action: string): string {
  const words = action.replace(/[._]/g, ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function subjectOf({ resource_type: type, resource_id: id }: RecordedAct): Reference {
  return { type, id };
}

function toOf(act: RecordedAct, names: Names): Markup {
  return names.show(subjectOf(act), `${act.resource_type} ${act.resource_id}`);
}

function moreOf(metadata: RecordedAct['metadata']): Markup {
  const members = Object.entries(metadata ?? {}).filter(([, value]) => value !== null);
  const one = ([label, value]: [string, unknown]) =>
    markup`<li><span class="minor">${name(label.replaceAll('_', ' '))}</span> ${name(textOf(value))}</li>`;
  return markup`<ul class="plain">${members.map(one)}</ul>`;
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}
