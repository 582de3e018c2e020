import { type FaceRun, toRuns } from './bidi.ts';
import type { Style } from './fonts.ts';
import { toUnits, wrap } from './wrap.ts';

const ELLIPSIS = '…';

export interface SetLine {
  runs: FaceRun[];
  /** Width in multiples of the font size. */
  width: number;
}

export interface Paragraph {
  lines: SetLine[];
  hasMarks: boolean;
}

/** Sets text into lines no wider than `width` points. Text beyond `maxLines` is cut, with an ellipsis. */
export function setParagraph(text: string, style: Style, size: number, width: number, maxLines: number): Paragraph {
  const units = toUnits(text, style);
  const ellipsis = setWhole(ELLIPSIS, style);
  const lines = wrap(units, width / size, maxLines, ellipsis.width);
  return {
    lines: lines.map((line) => {
      const runs = toRuns(units, line);
      return toSetLine(line.isCut ? [...runs, ...ellipsis.runs] : runs);
    }),
    hasMarks: lines.some(({ from, to }) => units.slice(from, to).some((unit) => unit.isMark)),
  };
}

function setWhole(text: string, style: Style): SetLine {
  const units = toUnits(text, style);
  return toSetLine(toRuns(units, { from: 0, to: units.length, isCut: false }));
}

function toSetLine(runs: FaceRun[]): SetLine {
  return { runs, width: runs.reduce((sum, run) => sum + run.width, 0) };
}
