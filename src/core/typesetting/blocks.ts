import type { Color } from './canvas.ts';
import { ACCENT, GREY, INK, type Setting } from './setting.ts';
import { CONTENT_WIDTH, LEFT, linesTogether, RIGHT, type Sheet } from './sheet.ts';

/** Draws a heading, kept together with the content that follows. */
export function drawHeading(sheet: Sheet, text: string, following = 60): void {
  const setting: Setting = { style: sheet.styles.bold, size: 11, leading: 14, color: ACCENT };
  if (!sheet.isAtTop) sheet.y -= 16;
  sheet.makeRoom(setting.leading + following);
  sheet.element('H2', () => sheet.flow(text, setting));
  sheet.y -= 5;
}

/** Draws the heading of a section, with a bookmark. */
export function drawSection(sheet: Sheet, text: string, following = 120): void {
  const setting: Setting = { style: sheet.styles.bold, size: 15, leading: 19, color: ACCENT };
  if (!sheet.isAtTop) sheet.y -= 26;
  sheet.makeRoom(setting.leading + following);
  sheet.bookmark(text);
  sheet.element('H1', () => sheet.flow(text, setting));
  sheet.y -= 6;
  sheet.rule(sheet.y, ACCENT);
  sheet.y -= 8;
}

export function drawList(sheet: Sheet, items: readonly string[]): void {
  const setting: Setting = { style: sheet.styles.regular, size: 8.5, leading: 12, color: INK };
  sheet.element('L', () => {
    for (const item of items) {
      // An item of two lines is not broken.
      sheet.makeRoom(2 * setting.leading);
      sheet.element('LI', () =>
        sheet.element('LBody', () => {
          sheet.artifact(() => sheet.draw(sheet.set('–', setting, 12), setting, LEFT, sheet.y - setting.leading));
          sheet.flow(item, setting, LEFT + 12);
        }),
      );
      sheet.y -= 2.5;
    }
  });
}

export function drawParagraph(sheet: Sheet, text: string, setting: Partial<Setting> = {}): void {
  const whole: Setting = { style: sheet.styles.regular, size: 9, leading: 12.5, color: INK, ...setting };
  sheet.element('P', () => sheet.flow(text, whole));
  sheet.y -= 4;
}

const COMMAND_SIZES = [8, 7.5, 7, 6.5, 6];
const COMMAND_GROUND: Color = [0.955, 0.96, 0.97];

/** Draws a command, each of its lines on a new line. */
export function drawCommand(sheet: Sheet, command: string): void {
  const written = command.split('\n');
  const settingOf = (size: number): Setting => ({ style: sheet.styles.mono, size, leading: 11, color: INK });
  const linesAt = (size: number) => written.map((line) => sheet.set(line, settingOf(size), RIGHT - LEFT - 16));
  // A path broken over two lines would be another command when pasted.
  const fits = (size: number) => linesAt(size).every(({ lines }) => lines.length === 1);
  const mono = settingOf(COMMAND_SIZES.find(fits) ?? 8);
  const paragraphs = linesAt(mono.size);
  const lines = paragraphs.flatMap((paragraph) => paragraph.lines);
  const height = lines.length * mono.leading + 8;
  sheet.makeRoom(height);
  sheet.box(LEFT, sheet.y - height, CONTENT_WIDTH, height, COMMAND_GROUND);
  const whole = { lines, hasMarks: paragraphs.some(({ hasMarks }) => hasMarks) };
  sheet.element('P', () => sheet.draw(whole, mono, LEFT + 8, sheet.y - mono.leading - 1));
  sheet.y -= height + 2;
}

const LABEL_WIDTH = 104;
const FACT_GAP = 4.5;
/** Font sizes for text that must fit on one line: it is set smaller before it is broken. */
const MONO_SIZES = [8.5, 8, 7.5, 7, 6.5];

/** Returns one size for all lines: the largest at which every line fits that fits at the smallest size. */
function sizeFor(lines: readonly string[], fits: (line: string, size: number) => boolean): number {
  const [largest = 8.5] = MONO_SIZES;
  const smallest = MONO_SIZES.at(-1) ?? largest;
  const wanted = lines.filter((line) => fits(line, smallest));
  return MONO_SIZES.find((size) => wanted.every((line) => fits(line, size))) ?? largest;
}

/** Form of a fact; `mono` is for digests, paths and ids. */
export type FactForm = 'text' | 'mono';

/** Draws a label with lines next to it, each beginning on a new line. */
export function drawFact(sheet: Sheet, label: string, lines: readonly string[], form: FactForm): void {
  const { regular, mono } = sheet.styles;
  const labelSetting: Setting = { style: regular, size: 8.5, leading: 12.5, color: GREY };
  const width = RIGHT - LEFT - LABEL_WIDTH;
  const fits = (line: string, size: number) =>
    sheet.set(line, { ...labelSetting, style: mono, size }, width).lines.length === 1;
  const setting: Setting =
    form === 'text'
      ? { ...labelSetting, size: 9, color: INK }
      : { style: mono, size: sizeFor(lines, fits), leading: 12.5, color: INK };
  const first = sheet.set(lines[0] ?? '', setting, width).lines.length;
  sheet.element('P', () => {
    sheet.makeRoom(Math.max(linesTogether(first), 1) * labelSetting.leading + FACT_GAP);
    const baseline = sheet.y - labelSetting.leading;
    sheet.draw(sheet.set(label, labelSetting, LABEL_WIDTH, 1), labelSetting, LEFT, baseline);
    for (const line of lines) sheet.flow(line, setting, LEFT + LABEL_WIDTH, width);
    if (lines.length === 0) sheet.y = baseline;
  });
  sheet.y -= FACT_GAP;
}
