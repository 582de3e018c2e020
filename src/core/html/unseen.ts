/**
 * Characters that are invisible or change the direction of the text around them, so that names could look alike.
 * Characters that join and vary letters and emoji are excluded.
 */
const UNSEEN =
  /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\ufff9-\ufffb]|(?!\u200c|\u200d|\ufe0e|\ufe0f|[\u{e0020}-\u{e007f}])\p{Default_Ignorable_Code_Point}/gu;

/** Returns a text that hides nothing: invisible characters are named, e.g. as ‹U+202E›. Line feeds stay. */
export function nameUnseen(text: string): string {
  return text.replace(UNSEEN, (character) => (character === '\n' ? character : `‹U+${codePoint(character)}›`));
}

function codePoint(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
}
