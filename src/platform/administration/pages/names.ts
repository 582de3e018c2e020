import { type Markup, markup, name } from '../../../core/html/markup.ts';
import { keyNames, type People, personNamed } from '../../accounts/api.ts';
import type { Reader } from '../../database/database.ts';
import { idText } from '../../web/components.ts';
import { PAGES } from '../../web/own-path.ts';

/** Sources of the names of what acts refer to by id, because acts contain no names. */
export interface NameSources {
  database: Reader;
  people: Pick<People, 'namesOf'>;
  channels: { namesOf(ids: readonly string[]): Promise<ReadonlyMap<string, string>> };
}

/** Reference of an act to a person, a key or a channel. */
export interface Reference {
  type: string;
  id: string;
}

/** Returns the reference in an actor; its type is `command` for a command. */
export function referenceOf(actor: string): Reference {
  const personId = personNamed(actor);
  if (personId !== null) return { type: 'person', id: personId };
  return actor.startsWith('key:')
    ? { type: 'api_key', id: actor.slice('key:'.length) }
    : { type: 'command', id: actor };
}

/** Names of things by type and id. */
export class Names {
  readonly #names: ReadonlyMap<string, ReadonlyMap<string, string>>;

  private constructor(names: ReadonlyMap<string, ReadonlyMap<string, string>>) {
    this.#names = names;
  }

  static async read({ database, people, channels }: NameSources, references: readonly Reference[]): Promise<Names> {
    const idsOf = (wanted: string) => [...new Set(references.flatMap(({ type, id }) => (type === wanted ? [id] : [])))];
    return new Names(
      new Map([
        ['person', await people.namesOf(idsOf('person'))],
        ['api_key', await keyNames(database, idsOf('api_key'))],
        ['alert_channel', await channels.namesOf(idsOf('alert_channel'))],
      ]),
    );
  }

  /** Renders the name of a thing, with a link to it and its id as a title; `otherwise` if it has no name. */
  show({ type, id }: Reference, otherwise: string): Markup {
    const found = this.#names.get(type)?.get(id);
    if (found === undefined) return idText(otherwise);
    const path = PATHS[type]?.(id);
    return path === undefined
      ? markup`<span title="${id}">${name(found)}</span>`
      : markup`<a href="${path}" title="${id}">${name(found)}</a>`;
  }
}

/** Pages of things; people have none of their own. */
const PATHS: Readonly<Record<string, (id: string) => string>> = {
  api_key: (id) => `${PAGES}/keys/${encodeURIComponent(id)}`,
  alert_channel: () => `${PAGES}/alerts`,
};
