import { type Markup, markup, name } from '../../../core/html/markup.ts';

/** Path as answered by routes: text, or base64 of bytes that are not UTF-8. */
export interface AnsweredPath {
  path: string | null;
  path_base64: string | null;
}

/**
 * Returns an untrusted path as one line in which nothing is hidden: line feeds are written out like the other control
 * characters, and bytes of a path that is not UTF-8 are written out unless they are ASCII.
 */
export function pathLine({ path, path_base64 }: AnsweredPath): string {
  return oneLine(path ?? bytesText(path_base64 ?? ''));
}

/** Renders the same line as code, with a note if the path is not UTF-8. */
export function shownPath(answered: AnsweredPath): Markup {
  return markup`<code>${name(pathLine(answered))}</code>${notUtf8(answered)}`;
}

/** Renders a note that a path is shown by its bytes; null if the path is text. */
export function notUtf8({ path }: AnsweredPath): Markup | null {
  return path === null ? markup` <span class="minor">not UTF-8</span>` : null;
}

/** Returns an untrusted text as one line. */
export function oneLine(text: string): string {
  return text.replaceAll('\n', '‹U+000A›');
}

/** Returns bytes as text, in which bytes that are not ASCII are written out. @param base64 RFC 4648 section 4. */
export function bytesText(base64: string): string {
  return Buffer.from(base64, 'base64')
    .toString('latin1')
    .replace(/[\x80-\xff]/g, (byte) => `‹0x${byte.charCodeAt(0).toString(16).toUpperCase()}›`);
}
