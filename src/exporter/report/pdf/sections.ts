import { grouped, plural } from '../../../core/plurals.ts';
import {
  drawCommand,
  drawFact,
  drawHeading,
  drawList,
  drawParagraph,
  drawSection,
} from '../../../core/typesetting/blocks.ts';
import { GREY, INK, type Setting } from '../../../core/typesetting/setting.ts';
import { CONTENT_WIDTH, LEFT, type Sheet } from '../../../core/typesetting/sheet.ts';
import type { Column } from '../../../core/typesetting/table.ts';
import { fill } from '../view/sentences.ts';
import type { Texts } from '../view/texts.ts';
import type { RunView } from '../view/view.ts';
import { drawTable, GREEN, NAME_LINES, RED, settings } from './style.ts';

const STATE_COLORS = { proved: GREEN, refuted: RED, unproved: GREY } as const;

export function drawIpe(sheet: Sheet, { provenance: { ipe } }: RunView, texts: Texts): void {
  drawSection(sheet, 'IPE statement');
  drawParagraph(sheet, texts.ipe.introduction);
  sheet.y -= 4;
  for (const { label, lines, form } of ipe) drawFact(sheet, label, lines, form);
}

/** Draws the signature lines for paper copies, after the statements that they sign. */
export function drawSignature(sheet: Sheet, { ipe: { review: label } }: Texts): void {
  const small: Setting = { style: sheet.styles.regular, size: 7.5, leading: 10, color: GREY };
  sheet.makeRoom(62);
  sheet.y -= 46;
  const step = CONTENT_WIDTH / 3;
  const { y } = sheet;
  [`${label} (name)`, 'Signature', 'Date'].forEach((text, index) => {
    const x = LEFT + index * step;
    sheet.rule(y, INK, x, x + step - 16);
    sheet.element('P', () => sheet.draw(sheet.set(text, small, step), small, x, y - 11));
  });
  sheet.y -= 16;
}

/** Draws the control totals, from the service's stated counts to the verified ones. */
export function drawPopulation(sheet: Sheet, { extent }: RunView, { population: texts }: Texts): void {
  const { rows } = extent.population;
  const { body, strong } = settings(sheet);
  drawSection(sheet, texts.title, 40 + rows.length * 18);
  drawParagraph(sheet, texts.introduction);
  const columns: Column[] = [
    { head: '', width: CONTENT_WIDTH - 160 },
    { head: 'Streams', width: 80, align: 'right' },
    { head: 'Entries', width: 80, align: 'right' },
  ];
  drawTable(sheet, columns, (table) => {
    for (const { label, streams, entries, isAmiss } of rows) {
      const number = isAmiss ? { ...strong, color: RED } : strong;
      table.drawRow({
        cells: [
          [{ text: label, setting: body, maxLines: 2 }],
          [{ text: grouped(streams), setting: number, maxLines: 1 }],
          [{ text: entries === null ? '–' : grouped(entries), setting: number, maxLines: 1 }],
        ],
      });
    }
  });
}

/** Draws the section for the preparer, after all sections for the auditor. */
export function drawPreparer(sheet: Sheet, { preparer }: RunView, { preparer: texts }: Texts): void {
  if (preparer.length === 0) return;
  drawSection(sheet, texts.title, 60);
  drawParagraph(sheet, texts.introduction);
  drawList(
    sheet,
    preparer.map(({ step, about, others }) => {
      const more = others === 0 ? '' : `; and ${grouped(others)} more`;
      return `${step} (${about.join('; ')}${more})`;
    }),
  );
}

export function drawExceptions(sheet: Sheet, { extent: { exceptions, moreExceptions } }: RunView, texts: Texts): void {
  if (exceptions.length === 0) return;
  const { body, strong } = settings(sheet);
  drawSection(sheet, 'Exceptions and exclusions');
  const columns = [
    { head: 'Stream', width: 210 },
    { head: 'What', width: 72 },
    { head: 'Why', width: CONTENT_WIDTH - 282 },
  ];
  drawTable(sheet, columns, (table) => {
    for (const { kind, streamId, reason } of exceptions)
      table.drawRow({
        cells: [
          [{ text: streamId, setting: body, maxLines: NAME_LINES }],
          [{ text: kind, setting: { ...strong, color: kind === 'excluded' ? GREY : RED }, maxLines: 1 }],
          [{ text: reason, setting: body, maxLines: 10 }],
        ],
      });
  });
  drawMore(sheet, moreExceptions, texts);
}

function drawMore(sheet: Sheet, count: number, { exceptions }: Texts): void {
  if (count > 0) drawParagraph(sheet, fill(exceptions.more, { count: grouped(count) }));
}

export function drawLate(sheet: Sheet, { extent }: RunView, all: Texts): void {
  if (extent.late.length === 0) return;
  const { late: texts } = all;
  const { body, strong } = settings(sheet);
  drawSection(sheet, texts.title, 60);
  drawParagraph(sheet, texts.introduction);
  const columns: Column[] = [
    { head: 'Stream', width: CONTENT_WIDTH - 310 },
    { head: 'Entries', width: 110 },
    { head: 'Dated', width: 70 },
    { head: 'First seen by run', width: 130 },
  ];
  drawTable(sheet, columns, (table) => {
    for (const { streamId, numbers, month, seenBy } of extent.late)
      table.drawRow({
        cells: [
          [{ text: streamId, setting: body, maxLines: NAME_LINES }],
          [{ text: numbers, setting: { ...strong, color: RED }, maxLines: 2 }],
          [{ text: month, setting: body, maxLines: 1 }],
          [{ text: seenBy, setting: body, maxLines: 2 }],
        ],
      });
  });
  drawMore(sheet, extent.moreLate, all);
}

/**
 * Line limit of a remark, which contains a stream id and a reason. Six remarks of this length still leave room on a
 * page.
 */
const REMARK_LINES = 10;

export function drawClaims(sheet: Sheet, { proof: { claims } }: RunView, texts: Texts): void {
  const { body, minor, strong } = settings(sheet);
  drawSection(sheet, 'What was checked');
  drawParagraph(sheet, texts.proves.introduction);
  const count = (head: string): Column => ({ head, width: 54, align: 'right' });
  const columns: Column[] = [
    { head: 'Claim', width: 82 },
    { head: 'Proved means', width: CONTENT_WIDTH - 82 - 162 },
    count('Proved'),
    count('Refuted'),
    count('Unproved'),
  ];
  drawTable(sheet, columns, (table) => {
    for (const claim of claims) {
      const number = (state: keyof typeof STATE_COLORS) => {
        const color = claim[state] === 0 ? GREY : STATE_COLORS[state];
        return [{ text: grouped(claim[state]), setting: { ...strong, color }, maxLines: 1 }];
      };
      table.drawRow({
        cells: [
          [
            { text: claim.name, setting: strong, maxLines: 1 },
            ...(claim.required ? [{ text: 'required', setting: minor, maxLines: 1 }] : []),
          ],
          [
            { text: claim.meaning, setting: body, maxLines: REMARK_LINES },
            ...claim.remarks.map(({ state, text, streams }) => ({
              text: `${state === 'proved' ? '' : `${state}: `}${text} (${plural(streams, 'stream')})`,
              setting: minor,
              maxLines: REMARK_LINES,
            })),
          ],
          number('proved'),
          number('refuted'),
          number('unproved'),
        ],
      });
    }
  });
}

export function drawCustody(sheet: Sheet, { provenance: { custody } }: RunView, texts: Texts): void {
  const { body } = settings(sheet);
  drawSection(sheet, 'Chain of custody');
  drawParagraph(sheet, texts.custody.introduction);
  const columns = [
    { head: 'When (UTC)', width: 142 },
    { head: 'Who', width: 136 },
    { head: 'What', width: CONTENT_WIDTH - 278 },
  ];
  drawTable(sheet, columns, (table) => {
    for (const { when, who, what } of custody)
      table.drawRow({
        cells: [
          [{ text: when, setting: body, maxLines: 3 }],
          [{ text: who, setting: body, maxLines: 3 }],
          [{ text: what, setting: body, maxLines: 8 }],
        ],
      });
  });
}

export function drawLimits(sheet: Sheet, { proof: { doesNotProve } }: RunView): void {
  drawSection(sheet, 'What this does not prove', 90);
  drawList(sheet, doesNotProve);
}

export function drawHowTo(sheet: Sheet, { verify }: Pick<Texts, 'verify'>): void {
  drawSection(sheet, 'How to verify it yourself', 150);
  drawParagraph(sheet, verify.introduction);
  verify.steps.forEach(({ title, text, command }, index) => {
    drawHeading(sheet, `${index + 1}. ${title}`, 70);
    drawParagraph(sheet, text);
    drawCommand(sheet, command);
  });
}
