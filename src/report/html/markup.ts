import { visible } from '../view/visible.ts';

/** HTML that is ready to be written: whatever came from outside is escaped in it. */
export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type Content = Markup | string | number | null | readonly Content[];

/** A template whose values are escaped unless they are markup themselves. Null is nothing, a list is its members. */
export function markup(parts: TemplateStringsArray, ...values: Content[]): Markup {
  let text = parts[0] ?? '';
  values.forEach((value, index) => {
    text += textOf(value) + (parts[index + 1] ?? '');
  });
  return new Markup(text);
}

function textOf(content: Content): string {
  if (content === null) return '';
  if (content instanceof Markup) return content.text;
  if (typeof content === 'number') return String(content);
  return typeof content === 'string' ? escaped(content) : content.map(textOf).join('');
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Nothing in it can end an element or an attribute, and nothing in it is hidden. */
function escaped(text: string): string {
  return visible(text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? ''));
}

/** A name from outside, in whichever direction its script runs. */
export function name(text: string): Markup {
  return markup`<bdi>${text}</bdi>`;
}
