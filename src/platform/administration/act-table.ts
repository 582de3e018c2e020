import { type Markup, markup, name } from '../../core/html/markup.ts';
import { dataTable, emptyState, moment } from '../web/components.ts';
import type { AdministrationService } from './service.ts';

type RecordedAct = Awaited<ReturnType<AdministrationService['acts']>>['data'][number];

/** Of people by their ids, as they are called now: acts have no names in them. */
type Names = ReadonlyMap<string, string>;

/** The ids of people that acts name. */
export function peopleIn(acts: readonly RecordedAct[]): string[] {
  return [...new Set(acts.flatMap((act) => [personOfActor(act), personOfObject(act)]).filter((id) => id !== null))];
}

export function actTable(acts: readonly RecordedAct[], names: Names, now: Date): Markup {
  return dataTable({
    caption: 'Administrative acts',
    columns: [
      { head: 'What', kind: 'name', cell: whatOf },
      { head: 'To', cell: (act) => objectOf(act, names) },
      { head: 'By', cell: (act) => actorOf(act, names) },
      { head: 'More', cell: ({ metadata }) => moreOf(metadata) },
      { head: 'When', cell: ({ timestamp }) => moment(timestamp, now) },
      { head: 'Entry', kind: 'number', cell: ({ sequence }) => sequence },
    ],
    rows: acts,
    empty: emptyState('Nothing was done yet.'),
  });
}

/** An act in a line: "Role changed: Ada Lovelace, by Ben". */
export function actLine(act: RecordedAct, names: Names): Markup {
  const [of, by] = [personOfObject(act), personOfActor(act)];
  const whoElse = of !== null && of === by ? null : markup`, by ${actorOf(act, names)}`;
  return markup`${whatOf(act)}: ${objectOf(act, names)}${whoElse}`;
}

/** `person.role_changed` as people say it. */
function whatOf({ action }: RecordedAct): Markup {
  const words = action.replace(/[._]/g, ' ');
  return name(words.charAt(0).toUpperCase() + words.slice(1));
}

function objectOf(act: RecordedAct, names: Names): Markup {
  return nameOr(names, personOfObject(act), `${act.resource_type} ${act.resource_id}`);
}

function actorOf(act: RecordedAct, names: Names): Markup {
  return nameOr(names, personOfActor(act), act.actor);
}

function personOfActor({ actor }: RecordedAct): string | null {
  return /^person:(.*)$/.exec(actor)?.[1] ?? null;
}

function personOfObject({ resource_type, resource_id }: RecordedAct): string | null {
  return resource_type === 'person' ? resource_id : null;
}

function nameOr(names: Names, personId: string | null, otherwise: string): Markup {
  const found = personId === null ? undefined : names.get(personId);
  return found === undefined ? markup`<code>${name(otherwise)}</code>` : name(found);
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
