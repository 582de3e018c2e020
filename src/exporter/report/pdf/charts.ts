import { type Bars, describeBars, longestOf } from '../../../core/html/charts.ts';
import { grouped } from '../../../core/plurals.ts';
import { drawHeading, drawParagraph, drawSection } from '../../../core/typesetting/blocks.ts';
import { GREY, HAIRLINE, INK, type Setting } from '../../../core/typesetting/setting.ts';
import { CONTENT_WIDTH, LEFT, RIGHT, type Sheet } from '../../../core/typesetting/sheet.ts';
import { type Column, Table } from '../../../core/typesetting/table.ts';
import { describePeriod } from '../../../verifier/bundle/period.ts';
import type { Texts } from '../view/texts.ts';
import type { RunView } from '../view/view.ts';
import { BAR, NAME_LINES, OUTCOME_COLORS } from './style.ts';

const PLOT_HEIGHT = 104;
/** Width of the axis labels left of the plot. */
const AXIS_WIDTH = 40;
const BAR_STEP = 16;
const NAME_WIDTH = 200;
const COUNT_WIDTH = 56;

export function drawCharts(sheet: Sheet, { charts }: RunView): void {
  const { activity, streams, actions, notes } = charts;
  if (activity === null && streams === null) return;
  drawSection(sheet, 'Activity', 190);
  if (activity !== null) drawColumns(sheet, activity);
  if (streams !== null) drawBars(sheet, streams);
  if (actions !== null) drawBars(sheet, actions);
  for (const note of notes) drawParagraph(sheet, note, { color: GREY });
}

/** Draws a chart over time, with one column for each day, month or year. */
function drawColumns(sheet: Sheet, chart: Bars): void {
  const { bars, title, notes } = chart;
  drawHeading(sheet, title, PLOT_HEIGHT + 30);
  const small: Setting = { style: sheet.styles.regular, size: 7, leading: 9, color: GREY };
  const top = niceAbove(Math.max(...bars.map(({ count }) => count)));
  const base = sheet.y - PLOT_HEIGHT - 6;
  const left = LEFT + AXIS_WIDTH;
  const step = (RIGHT - left) / bars.length;
  sheet.figure(describeBars(chart), () => {
    for (const share of [0, 0.5, 1]) {
      const y = base + share * PLOT_HEIGHT;
      sheet.rule(y, HAIRLINE, left, RIGHT);
      const value = sheet.set(grouped(top * share), small, AXIS_WIDTH, 1);
      if (Number.isInteger(top * share)) sheet.draw(value, small, left - 6, y - 2.5, 'right');
    }
    const width = Math.min(step * 0.8, 36);
    bars.forEach(({ count }, index) => {
      // Keeps even the smallest count visible.
      const height = count === 0 ? 0 : Math.max((count / top) * PLOT_HEIGHT, 0.8);
      sheet.box(left + (index + 0.5) * step - width / 2, base, width, height, BAR);
    });
    drawTimes(sheet, bars, left, step, base - 11, small);
  });
  sheet.y = base - 20;
  for (const note of notes) drawParagraph(sheet, note, { size: 7.5, leading: 10, color: GREY });
}

/** Minimum space between two labels. */
const LABEL_GAP = 8;

/** Draws as many labels as fit, each as close to the middle of its column as the page allows. */
function drawTimes(sheet: Sheet, bars: Bars['bars'], left: number, step: number, y: number, small: Setting): void {
  let free = 0;
  bars.forEach(({ label }, index) => {
    const paragraph = sheet.set(label, small, 60, 1);
    const half = ((paragraph.lines[0]?.width ?? 0) * small.size) / 2;
    const middle = Math.min(Math.max(left + (index + 0.5) * step, left + half), RIGHT - half);
    if (middle - half < free) return;
    sheet.draw(paragraph, small, middle, y, 'centre');
    free = middle + half + LABEL_GAP;
  });
}

/** Draws a chart by name, with one bar for each stream or action. */
function drawBars(sheet: Sheet, chart: Bars): void {
  const { bars, title, notes } = chart;
  drawHeading(sheet, title, bars.length * BAR_STEP + 10);
  const name: Setting = { style: sheet.styles.regular, size: 8, leading: BAR_STEP, color: INK };
  const number: Setting = { ...name, color: GREY };
  const most = longestOf(chart);
  const left = LEFT + NAME_WIDTH + 10;
  const room = RIGHT - left - COUNT_WIDTH;
  sheet.figure(describeBars(chart), () => {
    for (const { label, count, isRest } of bars) {
      const baseline = sheet.y - 11;
      sheet.draw(sheet.set(label, name, NAME_WIDTH, 1), name, LEFT, baseline);
      const width = isRest === true ? 0 : Math.max((count / most) * room, 0.8);
      if (width > 0) sheet.box(left, baseline - 2, width, 9, BAR);
      const after = left + (width > 0 ? width + 6 : 0);
      sheet.draw(sheet.set(grouped(count), number, COUNT_WIDTH, 1), number, after, baseline);
      sheet.y -= BAR_STEP;
    }
  });
  sheet.y -= 4;
  for (const note of notes) drawParagraph(sheet, note, { size: 7.5, leading: 10, color: GREY });
}

/** Returns the smallest 1, 2 or 5 times a power of ten that is not less than the value. */
function niceAbove(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1)));
  return [1, 2, 5, 10].map((factor) => factor * power).find((nice) => nice >= value) ?? value;
}

const GRID_COLUMNS = 12;
const CELL_HEIGHT = 38;
const GAP = 3;

export function drawCoverage(sheet: Sheet, { coverage }: RunView, texts: Texts): void {
  drawSection(sheet, 'Coverage by month', 160);
  drawParagraph(sheet, texts.coverage.introduction);
  sheet.y -= 4;
  const { months, runs, quiet } = coverage;
  const rows = Math.ceil(months.length / GRID_COLUMNS);
  const width = (CONTENT_WIDTH + GAP) / GRID_COLUMNS;
  const label: Setting = { style: sheet.styles.regular, size: 7, leading: 9, color: GREY };
  const seen = months.filter(({ outcome }) => outcome !== null).length;
  const alt = `Months with an export: ${seen} of ${months.length}. ${months
    .filter(({ outcome }) => outcome !== null)
    .map(({ month, outcome, note }) => `${month} ${outcome}${note === null ? '' : `, ${note}`}`)
    .join(', ')}`;
  sheet.figure(alt, () =>
    months.forEach(({ month, outcome, state, note }, index) => {
      const x = LEFT + (index % GRID_COLUMNS) * width;
      const y = sheet.y - (Math.floor(index / GRID_COLUMNS) + 1) * (CELL_HEIGHT + GAP);
      const isPart = state === 'partial' && outcome !== 'refuted';
      const colors = outcome === null ? null : OUTCOME_COLORS[isPart ? 'incomplete' : outcome];
      sheet.box(x, y, width - GAP, CELL_HEIGHT, colors?.ground ?? HAIRLINE);
      if (colors === null) sheet.box(x + 0.5, y + 0.5, width - GAP - 1, CELL_HEIGHT - 1, [1, 1, 1]);
      const middle = x + (width - GAP) / 2;
      sheet.draw(sheet.set(month, label, width, 1), label, middle, y + CELL_HEIGHT - 11, 'centre');
      const mark: Setting = { style: sheet.styles.bold, size: 12, leading: 14, color: colors?.ink ?? GREY };
      const text = { ...mark, style: sheet.styles.regular, size: 6.5 };
      const say = (words: string, setting: Setting, above: number) =>
        sheet.draw(sheet.set(words, setting, width, 1), setting, middle, y + above, 'centre');
      if (colors === null) say('no run', text, 9);
      else if (note === null) say(colors.mark, mark, 9);
      else {
        say(note, text, 16);
        say(outcome ?? '', text, 7);
      }
    }),
  );
  sheet.y -= rows * (CELL_HEIGHT + GAP) + 8;
  for (const line of quiet) drawParagraph(sheet, line);
  sheet.y -= 4;
  drawRuns(sheet, runs);
}

/** Lines of a period: two times to the second and the words between them. */
const PERIOD_LINES = 4;

function drawRuns(sheet: Sheet, runs: RunView['coverage']['runs']): void {
  const body: Setting = { style: sheet.styles.regular, size: 8, leading: 10.5, color: INK };
  const columns: Column[] = [
    { head: 'Run', width: 130 },
    { head: 'Period (UTC)', width: CONTENT_WIDTH - 316 },
    { head: 'Outcome', width: 62 },
    { head: 'Streams', width: 54, align: 'right' },
    { head: 'Entries', width: 70, align: 'right' },
  ];
  sheet.element('Table', () => {
    const table = new Table(sheet, columns);
    table.drawHead();
    for (const { run_id, period, until, outcome, streams, entries } of runs) {
      const strong: Setting = { ...body, style: sheet.styles.bold, color: OUTCOME_COLORS[outcome].ink };
      table.drawRow({
        cells: [
          [{ text: run_id, setting: body, maxLines: NAME_LINES }],
          [{ text: describePeriod(period, until), setting: body, maxLines: PERIOD_LINES }],
          [{ text: outcome, setting: strong, maxLines: 1 }],
          [{ text: grouped(streams), setting: body, maxLines: 1 }],
          [{ text: grouped(entries), setting: body, maxLines: 1 }],
        ],
      });
    }
  });
}
