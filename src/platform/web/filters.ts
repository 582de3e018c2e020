import { z } from 'zod';
import { type Markup, type MarkupContent, markup } from '../../core/html/markup.ts';
import { link } from './components.ts';
import { type Query, withQuery } from './own-path.ts';

/** Returns a schema for the filters of a list's form, whose empty fields count as absent. */
export function filtersOf<S extends z.ZodType>(schema: S) {
  return z.preprocess(
    (query) => Object.fromEntries(Object.entries(query as object).filter(([, value]) => value !== '')),
    schema,
  );
}

/** Renders a filter form above a list. @param asked current filters, which one link clears. */
export function filterForm(path: string, asked: Query, fields: MarkupContent): Markup {
  const all = withQuery(path, asked) === path ? null : link(path, 'Show all');
  return markup`<form method="get" action="${path}" class="filters" role="search">
${fields}<p class="acts"><button class="quiet">Show</button> ${all}</p>
</form>
`;
}

interface Filter {
  name: string;
  label: string;
  value: string | undefined;
}

/** One of a few values, or any. @param asked the filters: the one of this name is chosen. @param word names a value. */
export function filterSelect<Name extends string, Value extends string>(
  asked: { readonly [Each in Name]?: Value | undefined },
  [name, label]: readonly [Name, string],
  choices: readonly Value[],
  word: (choice: Value) => string = String,
): Markup {
  const option = (choice: Value) =>
    markup`<option value="${choice}"${choice === asked[name] ? markup` selected` : null}>${word(choice)}</option>`;
  return markup`<div class="field"><label for="${name}">${label}</label><select id="${name}" name="${name}"><option value="">any</option>${choices.map(option)}</select></div>
`;
}

export function filterField({ name, label, value }: Filter, type: 'search' | 'time' = 'search'): Markup {
  const kind = type === 'time' ? markup` type="datetime-local" step="1"` : markup` type="search"`;
  return markup`<div class="field"><label for="${name}">${label}</label><input id="${name}" name="${name}"${kind} value="${value ?? ''}"></div>
`;
}
