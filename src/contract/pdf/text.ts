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
import { type Color, Paint, toColor } from './paint.ts';

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
  /** Whether optional content is shown, on a screen and on paper alike. */
  isShown(content: unknown): boolean;
}

export interface Font {
  /** Of glyph space, e.g. 0.001. */
  scale: number;
  isVertical: boolean;
}

interface State {
  matrix: Matrix;
  clip: Box;
  /** Clipped to a shape that is no rectangle. */
  isShaped: boolean;
  fill: Color;
  stroke: Color;
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
  color: Color;
  time: number;
}

interface Glyph {
  unicode: string;
  width: number;
  isSpace: boolean;
}

type Rule = (list: readonly unknown[]) => void;

/** A page with more text than this states nothing to a reader. */
export const MAX_PIECES = 20_000;
/** In ems: around what is drawn of a letter. */
const EDGE = 0.15;
/** In points: smaller type is not for reading. */
const LEAST_SIZE = 3;
/** In ems: a gap within what one operator shows that is a space. */
const SPACE = 0.15;
/** ISO 32000-1 table 106. */
const STROKED = new Set([1, 5]);
const INVISIBLE = new Set([3, 7]);
const CLIPPING = 4;
/** Less is hard to see; less than all lets through what is below. */
const LEAST_ALPHA = 0.5;

/** The text of a page with what a person sees of it. */
export class PageText {
  readonly #drawing: Drawing;
  readonly #rules: Map<number, Rule>;
  readonly #paint = new Paint();
  readonly #drawn: Drawn[] = [];
  readonly #saved: State[] = [];
  /** Of marked content, from the outermost on: whether it is a layer that is not shown. */
  readonly #marked: boolean[] = [];
  #masks = 0;
  #annotations = 0;
  #state: State;
  #line = IDENTITY;
  #text = IDENTITY;
  #clipsNext = false;

  constructor(drawing: Drawing) {
    this.#drawing = drawing;
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
    return this.#drawn.map(({ piece, box, color, time }) => ({
      ...piece,
      unseen: piece.unseen ?? this.#paint.hides(box, color, time),
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
      beginMarkedContent: () => this.#marked.push(false),
      beginMarkedContentProps: ([tag, content]) => this.#marked.push(tag === 'OC' && !this.#drawing.isShown(content)),
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
    if (bounds !== null && isStroked) this.#outline(bounds);
    if (this.#clipsNext) this.#clip(bounds ?? EMPTY, isRectangle(data, bounds));
    this.#clipsNext = false;
  }

  /** A line covers what it crosses, unless it is thin. What lies within a frame is not covered by it. */
  #outline(bounds: Box): void {
    const { lineWidth, matrix } = this.#state;
    const width = lineWidth * Math.hypot(matrix[0], matrix[1]);
    const { left, bottom, right, top } = bounds;
    const isStraight = right - left < lineWidth || top - bottom < lineWidth;
    if (width < (isStraight ? COVERING_LINE : COVERING_CURVE)) return;
    const half = lineWidth / 2;
    this.#cover({ left: left - half, bottom: bottom - half, right: right + half, top: top + half }, null);
  }

  #cover(box: Box, color: Color): void {
    const { matrix, clip, fillAlpha, isBlended, isMasked } = this.#state;
    if (this.#marked.includes(true) || this.#masks > 0 || fillAlpha === 0) return;
    const isOpaque = fillAlpha === 1 && !isBlended && !isMasked;
    const place = intersection(clip, moved(matrix, box));
    if (overlaps(place, place)) this.#paint.add(place, isOpaque ? color : null);
  }

  #show(glyphs: readonly unknown[]): void {
    const state = this.#state;
    const { font, fontSize, scale } = state;
    if (font === null || fontSize === 0) return;
    let text = '';
    let start = 0;
    let x = 0;
    for (const glyph of glyphs) {
      if (typeof glyph === 'number') {
        const gap = (-glyph / 1000) * fontSize;
        if (Math.abs(gap) > SPACE * Math.abs(fontSize)) {
          this.#add(text, start, x);
          [text, start] = ['', x + gap];
        }
        x += gap;
      } else if (isGlyph(glyph)) {
        text += glyph.unicode;
        x += glyph.width * font.scale * fontSize + state.charSpacing + (glyph.isSpace ? state.wordSpacing : 0);
      }
    }
    this.#add(text, start, x);
    // From here on what is drawn shows within the letters only.
    if (state.mode >= CLIPPING) state.isShaped = true;
    this.#text = multiply(this.#text, [1, 0, 0, 1, x * scale, 0]);
  }

  /** @param start and end along the baseline, before the horizontal scale. */
  #add(text: string, start: number, end: number): void {
    if (text.trim() === '') return;
    const { matrix, scale, rise, fontSize, mode, fill, stroke } = this.#state;
    const place = multiply(matrix, this.#text);
    const [a, b, , , x, y] = multiply(place, [1, 0, 0, 1, start * scale, rise]);
    const size = Math.abs(fontSize) * Math.hypot(place[2], place[3]);
    const width = Math.abs(end - start) * scale * Math.hypot(a, b);
    const bounds = moved(place, {
      left: Math.min(start, end) * scale,
      bottom: rise,
      right: Math.max(start, end) * scale,
      top: rise + 0.6 * fontSize,
    });
    const box = inner(bounds, size);
    const piece = { text: readable(text), x, y, width, size, unseen: this.#unseen(place, box, size) };
    if (![x, y, width, size].every(Number.isFinite)) return;
    this.#drawn.push({ piece, box, color: STROKED.has(mode) ? stroke : fill, time: this.#paint.time });
  }

  #unseen(place: Matrix, box: Box, size: number): string | null {
    const { mode, clip, isShaped, isBlended, isMasked, font, fontSize, scale } = this.#state;
    const alpha = STROKED.has(mode) ? this.#state.strokeAlpha : this.#state.fillAlpha;
    if (INVISIBLE.has(mode)) return 'drawn invisibly';
    if (this.#marked.includes(true)) return 'on a layer that is not shown';
    if (this.#masks > 0 || isMasked) return 'in or under a mask';
    if (this.#annotations > 0) return 'in an annotation';
    if (!overlaps(clip, box)) return 'outside of what is shown';
    if (isShaped || !contains(clip, box)) return 'clipped';
    if (!(alpha >= LEAST_ALPHA) || isBlended) return 'transparent';
    if (!isUpright(place) || fontSize < 0 || scale <= 0 || font?.isVertical) return 'turned or mirrored';
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
/** In points: a thinner line leaves what it crosses readable. */
const COVERING_LINE = 2;
const COVERING_CURVE = 6;

/** Of straight lines between the corners of its bounds. @param data `[[code, x, y, code, x, y, …]]` */
function isRectangle(data: unknown, bounds: Box | null): boolean {
  const [numbers] = Array.isArray(data) ? data : [];
  if (bounds === null || !(numbers instanceof Float32Array)) return bounds === null;
  const { left, bottom, right, top } = bounds;
  const corners = new Set<string>();
  for (let at = 0; at < numbers.length; ) {
    const code = numbers[at] ?? -1;
    if (code === CLOSE) at++;
    else if (code === MOVE || code === LINE) {
      const [x = 0, y = 0] = numbers.subarray(at + 1, at + 3);
      if ((x !== left && x !== right) || (y !== bottom && y !== top)) return false;
      corners.add(`${x} ${y}`);
      at += 3;
    } else return false;
  }
  return numbers.length <= RECTANGLE && corners.size <= 4;
}

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

/** Codes of pdf.js within a path. */
const [MOVE, LINE, CLOSE] = [0, 1, 4];
/** Numbers of a path of five points that is closed. */
const RECTANGLE = 16;

function isMask(group: unknown): boolean {
  return typeof group === 'object' && group !== null && 'smask' in group && group.smask !== null;
}

function isGlyph(glyph: unknown): glyph is Glyph {
  return typeof glyph === 'object' && glyph !== null && 'unicode' in glyph && typeof glyph.unicode === 'string';
}
