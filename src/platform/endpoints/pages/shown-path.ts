import { type Markup, markup, name } from '../../../core/html/markup.ts';

/** A path as routes answer it: text, or bytes in base64 where they are not UTF-8. */
export interface AnsweredPath {
  path: string | null;
  path_base64: string | null;
}

/**
 * A path of a stranger on one line, in which nothing is hidden: line feeds are named as other control characters are by
 * markup, and of what is not UTF-8 each byte that is not ASCII.
 */
export function pathLine({ path, path_base64 }: AnsweredPath): string {
  return oneLine(path ?? bytesText(path_base64 ?? ''));
}

/** The same, marked as what it is. */
export function shownPath(answered: AnsweredPath): Markup {
  return markup`<code>${name(pathLine(answered))}</code>${notUtf8(answered)}`;
}

/** A note that a path is shown by its bytes; null if it is text. */
export function notUtf8({ path }: AnsweredPath): Markup | null {
  return path === null ? markup` <span class="minor">its name is not UTF-8</span>` : null;
}

/** A text of a stranger on one line. */
export function oneLine(text: string): string {
  return text.replaceAll('\n', '‹U+000A›');
}

/** Bytes, of which those that are not ASCII are named. @param base64 RFC 4648 section 4. */
export function bytesText(base64: string): string {
  return Buffer.from(base64, 'base64')
    .toString('latin1')
    .replace(/[\x80-\xff]/g, (byte) => `‹0x${byte.charCodeAt(0).toString(16).toUpperCase()}›`);
}
