/** Resources for drawing the pages of a PDF. */
export interface Deps {
  /** Objects from number 20 on, in order. */
  objects?: string[];
  /** Additional entries of the pages' resources, of the pages and of the catalog. */
  resources?: string;
  fonts?: string;
  page?: string;
  catalog?: string;
}

/** Writes a PDF by hand, from the operators of each page. Font F1 is Helvetica. */
export function drawnPdf(
  pages: readonly string[],
  { objects = [], resources = '', fonts = '', page = '', catalog = '' }: Deps = {},
) {
  const first = 20 + objects.length;
  const kids = pages.map((_, index) => `${first + 2 * index} 0 R`);
  const all = new Map<number, string>([
    [1, `<</Type/Catalog/Pages 2 0 R${catalog}>>`],
    [2, `<</Type/Pages/Kids[${kids.join(' ')}]/Count ${pages.length}>>`],
    [3, '<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>'],
    ...objects.map((object, index): [number, string] => [20 + index, object]),
    ...pages.flatMap((content, index): [number, string][] => [
      [
        first + 2 * index,
        `<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents ${first + 2 * index + 1} 0 R/Resources<</Font<</F1 3 0 R${fonts}>>${resources}>>${page}>>`,
      ],
      [first + 2 * index + 1, stream(content)],
    ]),
  ]);
  let text = '%PDF-1.7\n';
  const offsets = new Map<number, number>();
  for (const [number, object] of all) {
    offsets.set(number, text.length);
    text += `${number} 0 obj\n${object}\nendobj\n`;
  }
  const size = first + 2 * pages.length;
  const rows = Array.from({ length: size }, (_, number) => {
    const offset = offsets.get(number);
    return offset === undefined ? '0000000000 65535 f \n' : `${String(offset).padStart(10, '0')} 00000 n \n`;
  });
  text += `xref\n0 ${size}\n${rows.join('')}trailer<</Size ${size}/Root 1 0 R>>\nstartxref\n${text.length}\n%%EOF\n`;
  return Buffer.from(text, 'latin1');
}

/** Returns a stream object. @param dictionary additional entries. */
export function stream(content: string, dictionary = ''): string {
  return `<</Length ${content.length}${dictionary}>>stream\n${content}\nendstream`;
}

/** Returns a line of text with its baseline at this point, measured from the left and from the bottom. */
export function put(text: string, x = 50, y = 700, size = 9): string {
  return `BT /F1 ${size} Tf 1 0 0 1 ${x} ${y} Tm (${text.replace(/[()\\]/g, '\\$&')}) Tj ET\n`;
}

/** Returns lines below each other, starting at 700 points. */
export function list(...lines: string[]): string {
  return lines.map((line, index) => put(line, 50, 700 - 14 * index)).join('');
}
