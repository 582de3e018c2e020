import type { Drawing } from './drawing.ts';
import {
  type Box,
  IDENTITY,
  intersection,
  type Matrix,
  moved,
  multiply,
  overlaps,
  toBox,
  toMatrix,
  UNIT,
} from './geometry.ts';
import { Graphics, type Rule } from './graphics.ts';
import { Paint, type PaintColor, type Print } from './paint.ts';
import { isRectangle, strokesOf } from './path.ts';
import { type LetterRun, layOut } from './run.ts';
import { isInvisible, whyUnseen } from './unseen.ts';

/** Text as one operator draws it, without a gap in it. */
export interface Piece {
  text: string;
  /** Left end of its baseline, in points, y upwards. */
  x: number;
  y: number;
  width: number;
  /** Of its type, in points. */
  size: number;
  /** Why a person may not see it as it stands; null when it is plain to see. */
  unseen: string | null;
}

interface Drawn {
  piece: Piece;
  box: Box;
  color: PaintColor;
  time: number;
  print: Print;
}

/** A page with more text than this states nothing to a reader. */
export const MAX_PIECES = 20_000;
/** In ems: around what is drawn of a letter. */
const EDGE = 0.15;
const STROKED = new Set([1, 2, 5, 6]);
const CLIPPING = 4;

/** The text of a page with what a person sees of it. */
export class PageText {
  readonly #drawing: Drawing;
  readonly #rules: Map<number, Rule>;
  readonly #paint: Paint;
  readonly #drawn: Drawn[] = [];
  readonly #graphics: Graphics;
  #line = IDENTITY;
  #text = IDENTITY;
  #clipsNext = false;

  constructor(drawing: Drawing) {
    this.#drawing = drawing;
    this.#paint = new Paint(drawing.visible);
    this.#graphics = new Graphics(drawing);
    const rules = { ...this.#graphics.rules(), ...this.#textRules(), ...this.#paintRules() };
    this.#rules = new Map(Object.entries(rules).map(([name, rule]) => [drawing.operators[name] ?? -1, rule]));
  }

  /** Null when there is too much of it. */
  read(): Piece[] | null {
    const { functions, arguments: lists } = this.#drawing;
    for (let at = 0; at < functions.length; at++) {
      const list = lists[at];
      this.#rules.get(functions[at] ?? -1)?.(Array.isArray(list) ? list : []);
      if (this.#drawn.length > MAX_PIECES) return null;
    }
    return this.#drawn.map(({ piece, box, color, time, print }) => ({
      ...piece,
      unseen: piece.unseen ?? this.#paint.hides(box, color, time, print),
    }));
  }

  #textRules(): Record<string, Rule> {
    const move = (x: number, y: number) => {
      this.#line = multiply(this.#line, [1, 0, 0, 1, x, y]);
      this.#text = this.#line;
    };
    return {
      beginText: () => {
        this.#line = IDENTITY;
        this.#text = IDENTITY;
      },
      setTextMatrix: ([list]) => {
        this.#line = toMatrix(list) ?? this.#line;
        this.#text = this.#line;
      },
      moveText: ([x, y]) => move(Number(x), Number(y)),
      setLeadingMoveText: ([x, y]) => {
        this.#graphics.state.leading = Number(y);
        move(Number(x), Number(y));
      },
      nextLine: () => move(0, this.#graphics.state.leading),
      showText: ([glyphs]) => this.#show(Array.isArray(glyphs) ? glyphs : []),
    };
  }

  #paintRules(): Record<string, Rule> {
    const picture = () => this.#cover(UNIT, null);
    return {
      constructPath: ([operator, data, bounds]) => this.#path(Number(operator), data, toBox(bounds)),
      clip: () => {
        this.#clipsNext = true;
      },
      eoClip: () => {
        this.#clipsNext = true;
      },
      shadingFill: () => this.#paint.add(this.#graphics.state.clip, null),
      paintImageXObject: picture,
      paintInlineImageXObject: picture,
      paintImageMaskXObject: picture,
      paintSolidColorImageMask: picture,
      // Pictures that pdf.js has put together: where each of them lies is not worth the reading.
      paintImageMaskXObjectGroup: () => this.#paint.add(this.#graphics.state.clip, null),
      paintInlineImageXObjectGroup: () => this.#paint.add(this.#graphics.state.clip, null),
      paintImageXObjectRepeat: () => this.#paint.add(this.#graphics.state.clip, null),
      paintImageMaskXObjectRepeat: () => this.#paint.add(this.#graphics.state.clip, null),
    };
  }

  /** @param bounds null for a path of no points. */
  #path(operator: number, data: unknown, bounds: Box | null): void {
    const { operators } = this.#drawing;
    const isFilled = FILLING.some((name) => operators[name] === operator);
    const isStroked = STROKING.some((name) => operators[name] === operator);
    if (bounds !== null && isFilled) this.#cover(bounds, this.#graphics.state.fill);
    if (bounds !== null && isStroked) for (const stroke of strokesOf(data, bounds)) this.#outline(stroke);
    if (this.#clipsNext) this.#graphics.clip(bounds ?? EMPTY, isRectangle(data, bounds));
    this.#clipsNext = false;
  }

  /** A line covers what it crosses, however thin it is: many of them leave nothing. */
  #outline({ left, bottom, right, top }: Box): void {
    const { lineWidth, matrix } = this.#graphics.state;
    const half = Math.max(lineWidth, LEAST_LINE / (Math.hypot(matrix[0], matrix[1]) || 1)) / 2;
    this.#cover(
      { left: left - half, bottom: bottom - half, right: right + half, top: top + half },
      null,
      this.#graphics.state.strokeAlpha,
    );
  }

  #cover(box: Box, color: PaintColor, alpha = this.#graphics.state.fillAlpha): void {
    const { matrix, clip, isBlended, isMasked } = this.#graphics.state;
    if (this.#isHidden() || alpha === 0) return;
    const isOpaque = alpha === 1 && this.#graphics.layer === 'everywhere' && !isBlended && !isMasked;
    const place = intersection(clip, moved(matrix, box));
    if (overlaps(place, place)) this.#paint.add(place, isOpaque ? color : null);
  }

  #show(glyphs: readonly unknown[]): void {
    const state = this.#graphics.state;
    const { font, fontSize } = state;
    if (font === null || fontSize === 0) return;
    const { runs, end, unseen } = layOut(glyphs, { ...state, font });
    for (const run of runs) this.#add(run, unseen);
    // From here on what is drawn shows within the letters only.
    if (state.mode >= CLIPPING) state.isShaped = true;
    this.#text = multiply(this.#text, [1, 0, 0, 1, end * state.scale, 0]);
  }

  #add({ text, start, end, ink }: LetterRun, misread: string | null): void {
    const { matrix, scale, rise, fontSize, fill, font } = this.#graphics.state;
    const place = multiply(matrix, this.#text);
    const [a, b, , , x, y] = multiply(place, [1, 0, 0, 1, start * scale, rise]);
    const size = Math.abs(fontSize) * Math.hypot(place[2], place[3]);
    const width = Math.abs(end - start) * scale * Math.hypot(a, b);
    if (![x, y, width, size].every(Number.isFinite)) return;
    const bounds = moved(place, {
      left: Math.min(start, end) * scale,
      bottom: rise,
      right: Math.max(start, end) * scale,
      top: rise + 0.6 * fontSize,
    });
    const box = inner(bounds, size);
    const print: Print = { text, x, y, size, font };
    const time = this.#paint.time;
    if (this.#paints()) this.#paint.add(this.#inkOnPage(place, ink), fill, print);
    if (text.trim() === '') return;
    const piece = {
      text: readable(text),
      x,
      y,
      width,
      size,
      unseen: whyUnseen(this.#graphics, place, box, size) ?? misread,
    };
    this.#drawn.push({ piece, box, color: fill, time, print });
  }

  /** Whether text leaves anything on the page. */
  #paints(): boolean {
    return !isInvisible(this.#graphics.state.mode) && !this.#isHidden();
  }

  #isHidden(): boolean {
    return this.#graphics.layer === 'nowhere' || this.#graphics.isInMask;
  }

  #inkOnPage(place: Matrix, ink: Box | null): Box {
    const { matrix, clip, scale, rise, mode, lineWidth } = this.#graphics.state;
    if (ink === null) return clip;
    const { left, bottom, right, top } = moved(place, {
      left: ink.left * scale,
      bottom: ink.bottom + rise,
      right: ink.right * scale,
      top: ink.top + rise,
    });
    const half = STROKED.has(mode) ? (lineWidth / 2) * Math.hypot(matrix[0], matrix[1]) : 0;
    return intersection(clip, { left: left - half, bottom: bottom - half, right: right + half, top: top + half });
  }
}

const FILLING = ['fill', 'eoFill', 'fillStroke', 'eoFillStroke', 'closeFillStroke', 'closeEOFillStroke'] as const;
const STROKING = [
  'stroke',
  'closeStroke',
  'fillStroke',
  'eoFillStroke',
  'closeFillStroke',
  'closeEOFillStroke',
] as const;
const EMPTY: Box = { left: 0, bottom: 0, right: 0, top: 0 };
/** In points: the thinnest line is a point of a screen. */
const LEAST_LINE = 0.5;

/** Less than a letter is narrower at each side: its numbers give a letter some space around it. */
function inner({ left, bottom, right, top }: Box, size: number): Box {
  const x = Math.min(EDGE * size, (right - left) / 4);
  const y = EDGE * size;
  return { left: left + x, bottom: bottom + y, right: right - x, top: top - y };
}

/** Ligatures as their letters; without characters that have no shape. */
function readable(text: string): string {
  return text.replace(/[\ufb00-\ufb06]/g, (ligature) => ligature.normalize('NFKC')).replace(/\p{Cf}/gu, '');
}
