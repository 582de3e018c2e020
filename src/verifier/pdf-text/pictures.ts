/** How long the dictionary of a picture may be. */
const MAX_DICTIONARY_BYTES = 4096;

/**
 * A copy in which every picture is a single point, where it was and as large on the page: what a picture shows is not
 * read, and to unpack it would take time and memory that nothing bounds. The dictionary of a stream always stands before
 * it in the open (ISO 32000-1 section 7.5.7), and its bytes keep their places.
 */
export function withoutPictures(document: Uint8Array): Uint8Array<ArrayBuffer> {
  const copy = new Uint8Array(document);
  const bytes = Buffer.from(copy.buffer);
  for (let at = bytes.indexOf('stream'); at !== -1; at = bytes.indexOf('stream', at + 6)) {
    const from = Math.max(0, at - MAX_DICTIONARY_BYTES);
    const before = bytes.subarray(from, at).toString('latin1');
    const start = before.lastIndexOf('obj');
    const dictionary = before.slice(start);
    if (start === -1 || !/>>\s*$/.test(dictionary) || !/\/Subtype\s*\/Image\b/.test(dictionary)) continue;
    bytes.write(toPoint(dictionary), from + start, 'latin1');
  }
  return copy;
}

/** Of the same length. */
function toPoint(dictionary: string): string {
  const blank = (text: string) => ' '.repeat(text.length);
  return dictionary
    .replace(/\/(?:Width|Height)\s+\d+(?!\d|\s+\d+\s+R)/g, (text) =>
      text.replace(/\d+/, (number) => '1'.padEnd(number.length)),
    )
    .replace(/\/Filter\s*(?:\[[^\]]*\]|\/[A-Za-z0-9]+)/g, blank);
}
