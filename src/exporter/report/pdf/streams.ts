import { setImmediate as nextTurn } from 'node:timers/promises';
import { grouped, plural } from '../../../core/plurals.ts';
import { drawParagraph, drawSection } from '../../../core/typesetting/blocks.ts';
import { GREY, INK, type Setting } from '../../../core/typesetting/setting.ts';
import { CONTENT_WIDTH, type Sheet } from '../../../core/typesetting/sheet.ts';
import { type Cell, type Column, Table } from '../../../core/typesetting/table.ts';
import { CLAIMS } from '../../../verifier/claims/claim.ts';
import type { RunStream } from '../../../verifier/records/record.ts';
import { fill } from '../view/sentences.ts';
import { type StreamFact, sayLeftOut } from '../view/stream-facts.ts';
import type { Texts } from '../view/texts.ts';
import type { RunView } from '../view/view.ts';
import { AMBER, GREEN, NAME_LINES, RED } from './style.ts';

const MARKS = {
  proved: { text: '✓', color: GREEN },
  refuted: { text: '✗', color: RED },
  unproved: { text: '–', color: GREY },
} as const;
const STATUS_COLORS = { verified: GREEN, collected: GREY, refuted: RED, incomplete: AMBER, empty: GREY } as const;
const CLAIM_WIDTH = 22;
const ENTRIES_WIDTH = 56;
const STATUS_WIDTH = 64;
const ROWS_A_TURN = 50;
/** Maximum number of listed streams. Longer tables do not help a reader of the PDF. */
export const MAX_LISTED_STREAMS = 200;

/** Draws the table of streams and claims, with the digests that identify each stream's evidence, on new pages. */
export async function drawStreams(
  sheet: Sheet,
  { streams: { all, factsOf } }: RunView,
  streams: readonly RunStream[],
  texts: Texts,
): Promise<void> {
  if (all.length === 0) return;
  if (!sheet.isAtTop) sheet.newPage();
  drawSection(sheet, 'Streams', 150);
  drawParagraph(sheet, fill(texts.streams.introduction, { streams: plural(all.length, 'stream') }));
  if (streams.length < all.length)
    drawParagraph(sheet, sayLeftOut(all.length - streams.length, MAX_LISTED_STREAMS, texts));
  if (streams.length === 0) return;
  const columns: Column[] = [
    { head: 'Stream', width: CONTENT_WIDTH - ENTRIES_WIDTH - CLAIM_WIDTH * CLAIMS.length - STATUS_WIDTH },
    { head: 'Entries', width: ENTRIES_WIDTH, align: 'right' },
    ...CLAIMS.map((head): Column => ({ head, width: CLAIM_WIDTH, align: 'centre', upright: true })),
    { head: 'Status', width: STATUS_WIDTH },
  ];
  const table = new Table(sheet, columns);
  sheet.open('Table');
  table.drawHead();
  for (const [index, stream] of streams.entries()) {
    drawStream(sheet, table, stream, factsOf(stream));
    // Drawing thousands of rows takes seconds; yields so that signals are handled.
    if (index % ROWS_A_TURN === ROWS_A_TURN - 1) await nextTurn();
  }
  sheet.close();
}

function drawStream(sheet: Sheet, table: Table, stream: RunStream, facts: readonly StreamFact[]): void {
  const body: Setting = { style: sheet.styles.regular, size: 8, leading: 10.5, color: INK };
  const bold: Setting = { ...body, style: sheet.styles.bold };
  const mono: Setting = { style: sheet.styles.mono, size: 6.5, leading: 9, color: GREY };
  const { first_sequence: first, head, bundle, partial, status } = stream;
  const cell = (text: string, setting: Setting, maxLines = 1): Cell[] => [{ text, setting, maxLines }];
  const color = partial ? RED : STATUS_COLORS[status];
  table.drawRow({
    cells: [
      cell(stream.stream_id, body, NAME_LINES),
      cell(grouped(stream.entries), body),
      ...CLAIMS.map((name) => {
        const mark = MARKS[stream.claims[name].state];
        return cell(mark.text, { ...bold, color: mark.color });
      }),
      [
        ...cell(partial ? 'PARTIAL' : status, { ...bold, color }),
        ...(partial && status !== 'incomplete' ? cell(status, { ...bold, color }) : []),
      ],
    ],
    below: {
      lines: [
        ...(first === null || head === null ? [] : [`${first}–${head.sequence}  head ${head.hash}`]),
        ...facts.map(([label, text]) => `${label} ${text}`),
        `bundle SHA-256 ${bundle.sha256}`,
      ],
      setting: mono,
      indent: 0,
      under: CLAIMS.length + 3,
    },
  });
}
