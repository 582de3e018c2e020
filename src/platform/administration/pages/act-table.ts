import { type Markup, markup, name } from '../../../core/html/markup.ts';
import { personNamed } from '../../accounts/api.ts';
import { dataTable, emptyState, idText, moment } from '../../web/components.ts';
import type { AdministrationService } from '../service.ts';

type RecordedAct = Awaited<ReturnType<AdministrationService['acts']>>['data'][number];

/** Returns the ids of people in acts. */
export function peopleIn(acts: readonly RecordedAct[]): string[] {
  return [...new Set(acts.flatMap((act) => [personNamed(act.actor), personOfObject(act)]).filter((id) => id !== null))];
}

/** @param names current names of people by id, because acts contain no names. */
export function actTable(acts: readonly RecordedAct[], names: ReadonlyMap<string, string>, now: Date): Markup {
  return dataTable({
    caption: 'Administrative acts',
    columns: [
      { head: 'Act', kind: 'name', cell: ({ action }) => name(inWords(action)) },
      { head: 'To', cell: (act) => nameOr(names, personOfObject(act), `${act.resource_type} ${act.resource_id}`) },
      { head: 'By', cell: (act) => nameOr(names, personNamed(act.actor), act.actor) },
      { head: 'Details', cell: ({ metadata }) => moreOf(metadata) },
      { head: 'When', cell: ({ timestamp }) => moment(timestamp, now) },
      { head: 'Entry', kind: 'number', cell: ({ sequence }) => sequence },
    ],
    rows: acts,
    empty: emptyState('No acts yet.'),
  });
}

/** Renders an act as one line. @param names as for `actTable`. */
export function actLine(act: RecordedAct, names: ReadonlyMap<string, string>): Markup {
  const to = nameOr(names, personOfObject(act), `${act.resource_type} ${act.resource_id}`);
  return markup`${name(inWords(act.action))}: ${to}, by ${nameOr(names, personNamed(act.actor), act.actor)}`;
}

/** Returns an action such as `person.role_changed` in words. */
function inWords(action: string): string {
  const words = action.replace(/[._]/g, ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function personOfObject({ resource_type, resource_id }: RecordedAct): string | null {
  return resource_type === 'person' ? resource_id : null;
}

function nameOr(names: ReadonlyMap<string, string>, personId: string | null, otherwise: string): Markup {
  const found = personId === null ? undefined : names.get(personId);
  return found === undefined ? idText(otherwise) : name(found);
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
