/**
 * Characters that control a terminal, change the direction of the text around them, or are invisible: C0 and C1
 * controls, DEL, bidirectional controls, line and paragraph separators, tags, lone surrogates. Two variation selectors
 * are excluded, because emoji need them.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]|(?![\ufe0e\ufe0f])\p{Default_Ignorable_Code_Point}/gu;

/** Returns text from outside as one line that hides nothing: invisible characters are named, e.g. as \u{202e}. */
export function escapeControls(text: string): string {
  return text.replace(UNSEEN, (sign) => `\\u{${sign.codePointAt(0)?.toString(16)}}`);
}

/** Returns the same JSON with `UNSEEN` characters escaped (RFC 8259 section 7); line feeds between values stay. */
export function escapeControlsInJson(json: string): string {
  return json.replace(UNSEEN, (sign) => (sign === '\n' ? sign : escaped(sign)));
}

function escaped(sign: string): string {
  const units = Array.from({ length: sign.length }, (_, index) => sign.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}
