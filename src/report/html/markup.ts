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

/**
 * What would be invisible, or turn the text around it, so that one name could look like another. What scripts and emoji
 * are joined and varied with stays.
 */
const UNSEEN =
  /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\ufff9-\ufffb]|(?!\u200c|\u200d|\ufe0e|\ufe0f|[\u{e0020}-\u{e007f}])\p{Default_Ignorable_Code_Point}/gu;

/** Nothing in it can end an element or an attribute, and nothing in it is hidden. */
function escaped(text: string): string {
  return text
    .replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
    .replace(UNSEEN, (character) => (character === '\n' ? character : `‹U+${codePoint(character)}›`));
}

function codePoint(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
}

/** A name from outside, in whichever direction its script runs. */
export function name(text: string): Markup {
  return markup`<bdi>${text}</bdi>`;
}
