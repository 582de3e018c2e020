import { nameUnseen } from '../../../core/html/unseen.ts';

type Child = Node | string | null;

/** An element with attributes and children; a text is a text, whatever stands in it. */
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

/** A text from outside, in whichever direction its script runs, with nothing in it hidden. */
export function isolated(text: string): HTMLElement {
  return element('bdi', {}, nameUnseen(text));
}
