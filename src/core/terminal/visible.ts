/**
 * Signs that steer a terminal, turn the text around them, or are not seen: C0 and C1 control characters, DEL, bidi
 * controls, line and paragraph separators, tags, lone surrogates. Two variation selectors stay: emoji need them.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]|(?![\ufe0e\ufe0f])\p{Default_Ignorable_Code_Point}/gu;

/** Text from outside as one line in which nothing is hidden: signs that would not be seen are named, as in \u{202e}. */
export function escapeControls(text: string): string {
  return text.replace(UNSEEN, (sign) => `\\u{${sign.codePointAt(0)?.toString(16)}}`);
}

/** The same JSON, with escapes (RFC 8259 section 7) where `visible` would name a sign; line feeds between values stay. */
export function escapeControlsInJson(json: string): string {
  return json.replace(UNSEEN, (sign) => (sign === '\n' ? sign : escaped(sign)));
}

function escaped(sign: string): string {
  const units = Array.from({ length: sign.length }, (_, index) => sign.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}
