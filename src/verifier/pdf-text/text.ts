import type { Font } from './font.ts';
import {
  type Box,
  contains,
  IDENTITY,
  intersection,
  isUpright,
  type Matrix,
  moved,
  multiply,
  overlaps,
  toBox,
  toMatrix,
  UNIT,
} from './geometry.ts';
import { Paint, type PaintColor, type Print, toColor } from './paint.ts';
import { isRectangle, strokesOf } from './path.ts';
import { type LetterRun, layOut } from './run.ts';

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

/** A page as pdf.js hands it over: operators by the numbers of `operators`, and how to know its fonts and layers. */
export interface Drawing {
  operators: Record<string, number>;
  functions: readonly number[];
  arguments: readonly unknown[];
  /** From the page's own space to points of the page as it is shown, y upwards. */
  toPage: Matrix;
  visible: Box;
  fontOf(id: string): Font | null;
  /** Where optional content is shown: on a screen, on paper or both. */
  whereShown(content: unknown): Shown;
}

export type Shown = 'everywhere' | 'somewhere' | 'nowhere';

interface State {
  matrix: Matrix;
  clip: Box;
  /** Clipped to a shape that is no rectangle. */
  isShaped: boolean;
  fill: PaintColor;
  stroke: PaintColor;
  fillAlpha: number;
  strokeAlpha: number;
  lineWidth: number;
  isBlended: boolean;
  isMasked: boolean;
  font: Font | null;
  fontSize: number;
  charSpacing: number;
  wordSpacing: number;
  scale: number;
  leading: number;
  rise: number;
  mode: number;
}

interface Drawn {
  piece: Piece;
  box: Box;
  color: PaintColor;
  time: number;
  print: Print;
}

type Rule = (list: readonly unknown[]) => void;

/** A page with more text than this states nothing to a reader. */
export const MAX_PIECES = 20_000;
/** In ems: around what is drawn of a letter. */
const EDGE = 0.15;
/** In points: smaller type is not for reading. */
const LEAST_SIZE = 4;
/** Of the width of letters by their height. */
const [LEAST_STRETCH, MOST_STRETCH] = [0.5, 2];
/** ISO 32000-1 table 106. */
const FILLED = 0;
const STROKED = new Set([1, 2, 5, 6]);
const INVISIBLE = new Set([3, 7]);
const CLIPPING = 4;

/** The text of a page with what a person sees of it. */
export class PageText {
  readonly #drawing: Drawing;
  readonly #rules: Map<number, Rule>;
  readonly #paint: Paint;
  readonly #drawn: Drawn[] = [];
  readonly #saved: State[] = [];
  /** Of marked content, from the outermost on. */
  readonly #marked: Shown[] = [];
  #masks = 0;
  #annotations = 0;
  #state: State;
  #line = IDENTITY;
  #text = IDENTITY;
  #clipsNext = false;

  constructor(drawing: Drawing) {
    this.#drawing = drawing;
    this.#paint = new Paint(drawing.visible);
    this.#state = {
      matrix: drawing.toPage,
      clip: drawing.visible,
      isShaped: false,
      fill: [0, 0, 0],
      stroke: [0, 0, 0],
      fillAlpha: 1,
      strokeAlpha: 1,
      lineWidth: 1,
      isBlended: false,
      isMasked: false,
      font: null,
      fontSize: 0,
      charSpacing: 0,
      wordSpacing: 0,
      scale: 1,
      leading: 0,
      rise: 0,
      mode: 0,
    };
    const rules = { ...this.#stateRules(), ...this.#textRules(), ...this.#paintRules(), ...this.#groupRules() };
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

  #stateRules(): Record<string, Rule> {
    const number = (change: (state: State, value: number) => void): Rule => {
      return ([value]) => change(this.#state, Number(value) || 0);
    };
    return {
      save: () => this.#save(),
      restore: () => this.#restore(),
      transform: (list) => this.#transform(toMatrix(list)),
      setFillRGBColor: ([color]) => {
        this.#state.fill = toColor(color);
      },
      setStrokeRGBColor: ([color]) => {
        this.#state.stroke = toColor(color);
      },
      setFillColorN: () => {
        this.#state.fill = null;
      },
      setStrokeColorN: () => {
        this.#state.stroke = null;
      },
      setFillTransparent: () => {
        this.#state.fill = null;
      },
      setStrokeTransparent: () => {
        this.#state.stroke = null;
      },
      setGState: ([settings]) => this.#set(settings),
      setFont: ([id, size]) => this.#setFont(id, size),
      setLineWidth: number((state, value) => {
        state.lineWidth = value;
      }),
      setCharSpacing: number((state, value) => {
        state.charSpacing = value;
      }),
      setWordSpacing: number((state, value) => {
        state.wordSpacing = value;
      }),
      setHScale: number((state, value) => {
        state.scale = value / 100;
      }),
      // The operator for the same purpose in PDF counts downwards.
      setLeading: number((state, value) => {
        state.leading = -value;
      }),
      setTextRise: number((state, value) => {
        state.rise = value;
      }),
      setTextRenderingMode: number((state, value) => {
        state.mode = value;
      }),
    };
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
        this.#state.leading = Number(y);
        move(Number(x), Number(y));
      },
      nextLine: () => move(0, this.#state.leading),
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
      shadingFill: () => this.#paint.add(this.#state.clip, null),
      paintImageXObject: picture,
      paintInlineImageXObject: picture,
      paintImageMaskXObject: picture,
      paintSolidColorImageMask: picture,
      // Pictures that pdf.js has put together: where each of them lies is not worth the reading.
      paintImageMaskXObjectGroup: () => this.#paint.add(this.#state.clip, null),
      paintInlineImageXObjectGroup: () => this.#paint.add(this.#state.clip, null),
      paintImageXObjectRepeat: () => this.#paint.add(this.#state.clip, null),
      paintImageMaskXObjectRepeat: () => this.#paint.add(this.#state.clip, null),
    };
  }

  #groupRules(): Record<string, Rule> {
    return {
      paintFormXObjectBegin: ([matrix, box]) => {
        this.#save();
        this.#transform(toMatrix(matrix));
        const bounds = toBox(box);
        if (bounds !== null) this.#clip(bounds, true);
      },
      paintFormXObjectEnd: () => this.#restore(),
      beginGroup: ([group]) => {
        this.#save();
        if (isMask(group)) this.#masks++;
      },
      endGroup: ([group]) => {
        this.#restore();
        if (isMask(group)) this.#masks--;
      },
      beginAnnotation: ([, rectangle, transform, matrix]) => {
        this.#save();
        this.#state = { ...this.#state, matrix: this.#drawing.toPage, clip: this.#drawing.visible };
        const bounds = toBox(rectangle);
        if (bounds !== null) this.#clip(bounds, true);
        this.#transform(toMatrix(transform));
        this.#transform(toMatrix(matrix));
        this.#annotations++;
      },
      endAnnotation: () => {
        this.#annotations--;
        this.#restore();
      },
      beginMarkedContent: () => this.#marked.push('everywhere'),
      beginMarkedContentProps: ([tag, content]) =>
        this.#marked.push(tag === 'OC' ? this.#drawing.whereShown(content) : 'everywhere'),
      endMarkedContent: () => this.#marked.pop(),
    };
  }

  #save(): void {
    this.#saved.push(this.#state);
    this.#state = { ...this.#state };
  }

  #restore(): void {
    this.#state = this.#saved.pop() ?? this.#state;
  }

  #transform(matrix: Matrix | null): void {
    if (matrix !== null) this.#state.matrix = multiply(this.#state.matrix, matrix);
  }

  #setFont(id: unknown, size: unknown): void {
    this.#state.font = typeof id === 'string' ? this.#drawing.fontOf(id) : null;
    this.#state.fontSize = Number(size) || 0;
  }

  #set(settings: unknown): void {
    if (!Array.isArray(settings)) return;
    for (const [key, value] of settings as [string, unknown][]) {
      if (key === 'ca') this.#state.fillAlpha = Number(value);
      else if (key === 'CA') this.#state.strokeAlpha = Number(value);
      else if (key === 'LW') this.#state.lineWidth = Number(value);
      else if (key === 'BM') this.#state.isBlended = value !== 'source-over';
      else if (key === 'SMask') this.#state.isMasked = value !== false;
      else if (key === 'Font' && Array.isArray(value)) this.#setFont(value[0], value[1]);
    }
  }

  #clip(box: Box, isRectangle: boolean): void {
    const { matrix, clip } = this.#state;
    const isTurned = matrix[1] !== 0 || matrix[2] !== 0;
    const isQuarter = matrix[0] === 0 && matrix[3] === 0;
    this.#state.clip = intersection(clip, moved(matrix, box));
    this.#state.isShaped ||= !isRectangle || (isTurned && !isQuarter);
  }

  /** @param bounds null for a path of no points. */
  #path(operator: number, data: unknown, bounds: Box | null): void {
    const { operators } = this.#drawing;
    const isFilled = FILLING.some((name) => operators[name] === operator);
    const isStroked = STROKING.some((name) => operators[name] === operator);
    if (bounds !== null && isFilled) this.#cover(bounds, this.#state.fill);
    if (bounds !== null && isStroked) for (const stroke of strokesOf(data, bounds)) this.#outline(stroke);
    if (this.#clipsNext) this.#clip(bounds ?? EMPTY, isRectangle(data, bounds));
    this.#clipsNext = false;
  }

  /** A line covers what it crosses, however thin it is: many of them leave nothing. */
  #outline({ left, bottom, right, top }: Box): void {
    const { lineWidth, matrix } = this.#state;
    const half = Math.max(lineWidth, LEAST_LINE / (Math.hypot(matrix[0], matrix[1]) || 1)) / 2;
    this.#cover(
      { left: left - half, bottom: bottom - half, right: right + half, top: top + half },
      null,
      this.#state.strokeAlpha,
    );
  }

  #cover(box: Box, color: PaintColor, alpha = this.#state.fillAlpha): void {
    const { matrix, clip, isBlended, isMasked } = this.#state;
    if (this.#marked.includes('nowhere') || this.#masks > 0 || alpha === 0) return;
    const isOpaque = alpha === 1 && !this.#marked.includes('somewhere') && !isBlended && !isMasked;
    const place = intersection(clip, moved(matrix, box));
    if (overlaps(place, place)) this.#paint.add(place, isOpaque ? color : null);
  }

  #show(glyphs: readonly unknown[]): void {
    const state = this.#state;
    const { font, fontSize } = state;
    if (font === null || fontSize === 0) return;
    const { runs, end, unseen } = layOut(glyphs, { ...state, font });
    for (const run of runs) this.#add(run, unseen);
    // From here on what is drawn shows within the letters only.
    if (state.mode >= CLIPPING) state.isShaped = true;
    this.#text = multiply(this.#text, [1, 0, 0, 1, end * state.scale, 0]);
  }

  #add({ text, start, end, ink }: LetterRun, misread: string | null): void {
    const { matrix, scale, rise, fontSize, fill, font } = this.#state;
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
    const piece = { text: readable(text), x, y, width, size, unseen: this.#unseen(place, box, size) ?? misread };
    this.#drawn.push({ piece, box, color: fill, time, print });
  }

  /** Whether text leaves anything on the page. */
  #paints(): boolean {
    return !INVISIBLE.has(this.#state.mode) && !this.#marked.includes('nowhere') && this.#masks === 0;
  }

  #inkOnPage(place: Matrix, ink: Box | null): Box {
    const { matrix, clip, scale, rise, mode, lineWidth } = this.#state;
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

  #unseen(place: Matrix, box: Box, size: number): string | null {
    const { mode, clip, isShaped, isBlended, isMasked, font, fontSize, scale, fillAlpha } = this.#state;
    const stretch = (scale * Math.hypot(place[0], place[1])) / Math.hypot(place[2], place[3]);
    if (INVISIBLE.has(mode)) return 'drawn invisibly';
    if (this.#marked.some((shown) => shown !== 'everywhere')) return 'on a layer that is not shown';
    if (this.#masks > 0 || isMasked) return 'in or under a mask';
    if (this.#annotations > 0) return 'in an annotation';
    if (!overlaps(clip, box)) return 'outside of what is shown';
    if (isShaped || !contains(clip, box)) return 'clipped';
    if (mode !== FILLED) return 'drawn as outlines';
    if (fillAlpha !== 1 || isBlended) return 'transparent';
    if (!isUpright(place) || fontSize < 0 || scale <= 0 || font?.isVertical) return 'turned or mirrored';
    if (!(stretch >= LEAST_STRETCH && stretch <= MOST_STRETCH)) return 'squeezed or stretched';
    return size < LEAST_SIZE ? 'too small to read' : null;
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

function isMask(group: unknown): boolean {
  return typeof group === 'object' && group !== null && 'smask' in group && group.smask !== null;
}
