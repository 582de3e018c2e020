/** OSCAL's single line: no white space at its ends, none but spaces within, not empty. */
export function line(text: string): string {
  const plain = text
    .toWellFormed()
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  return plain === '' ? '–' : plain;
}

/** Text from outside must not become a list, a heading or a link of ours. */
export function paragraph(text: string): string {
  return line(text).replace(/[\\`*_{}[\]<>#|]/g, '\\$&');
}

/** OSCAL's token: begins with a letter. */
export function toToken(id: string): string {
  const token = id.replace(/[^\p{L}\p{N}._-]+/gu, '-').replace(/-+$/, '');
  return /^[\p{L}_]/u.test(token) ? token : `c-${token}`;
}
