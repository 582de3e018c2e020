/**
 * Characters that are invisible, or turn the text around them, so that one name could look like another. Those that
 * scripts and emoji are joined and varied with stays.
 */
const UNSEEN =
  /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\ufff9-\ufffb]|(?!\u200c|\u200d|\ufe0e|\ufe0f|[\u{e0020}-\u{e007f}])\p{Default_Ignorable_Code_Point}/gu;

/** A text of which nothing is hidden: what would not be seen is named, as in ‹U+202E›. Line feeds stay. */
export function nameUnseen(text: string): string {
  return text.replace(UNSEEN, (character) => (character === '\n' ? character : `‹U+${codePoint(character)}›`));
}

function codePoint(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
}
