import type { Drawing, Shown } from './drawing.ts';
import type { Font } from './font.ts';
import { type Box, intersection, type Matrix, moved, multiply, toBox, toMatrix } from './geometry.ts';
import { type PaintColor, toColor } from './paint.ts';

/** What an operator does, by its arguments. */
export type Rule = (list: readonly unknown[]) => void;

/** The graphics state (ISO 32000-1, 8.4) and the state of text (9.3), in the space of the page. */
// Over ten members: the standard has one state, which q and Q save and restore as a whole.
export interface GraphicsState {
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

/** How what is drawn next will be drawn: the state, and the groups, layers and annotations around it. */
export class Graphics {
  state: GraphicsState;
  readonly #drawing: Drawing;
  readonly #saved: GraphicsState[] = [];
  /** Of marked content, from the outermost on. */
  readonly #marked: Shown[] = [];
  #masks = 0;
  #annotations = 0;

  constructor(drawing: Drawing) {
    this.#drawing = drawing;
    this.state = {
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
  }

  /** What changes it, by the names of operators. */
  rules(): Record<string, Rule> {
    return { ...this.#stateRules(), ...this.#groupRules() };
  }

  /** Where what is drawn now is shown. */
  get layer(): Shown {
    if (this.#marked.includes('nowhere')) return 'nowhere';
    return this.#marked.includes('somewhere') ? 'somewhere' : 'everywhere';
  }

  /** Only a mask is drawn. */
  get isInMask(): boolean {
    return this.#masks > 0;
  }

  get isInAnnotation(): boolean {
    return this.#annotations > 0;
  }

  // Over 40 lines: it is one table.
  #stateRules(): Record<string, Rule> {
    const number = (change: (state: GraphicsState, value: number) => void): Rule => {
      return ([value]) => change(this.state, Number(value) || 0);
    };
    return {
      save: () => this.save(),
      restore: () => this.restore(),
      transform: (list) => this.#transform(toMatrix(list)),
      setFillRGBColor: ([color]) => {
        this.state.fill = toColor(color);
      },
      setStrokeRGBColor: ([color]) => {
        this.state.stroke = toColor(color);
      },
      setFillColorN: () => {
        this.state.fill = null;
      },
      setStrokeColorN: () => {
        this.state.stroke = null;
      },
      setFillTransparent: () => {
        this.state.fill = null;
      },
      setStrokeTransparent: () => {
        this.state.stroke = null;
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

  #groupRules(): Record<string, Rule> {
    return {
      paintFormXObjectBegin: ([matrix, box]) => {
        this.save();
        this.#transform(toMatrix(matrix));
        const bounds = toBox(box);
        if (bounds !== null) this.clip(bounds, true);
      },
      paintFormXObjectEnd: () => this.restore(),
      beginGroup: ([group]) => {
        this.save();
        if (isMask(group)) this.#masks++;
      },
      endGroup: ([group]) => {
        this.restore();
        if (isMask(group)) this.#masks--;
      },
      beginAnnotation: ([, rectangle, transform, matrix]) => {
        this.save();
        this.state = { ...this.state, matrix: this.#drawing.toPage, clip: this.#drawing.visible };
        const bounds = toBox(rectangle);
        if (bounds !== null) this.clip(bounds, true);
        this.#transform(toMatrix(transform));
        this.#transform(toMatrix(matrix));
        this.#annotations++;
      },
      endAnnotation: () => {
        this.#annotations--;
        this.restore();
      },
      beginMarkedContent: () => this.#marked.push('everywhere'),
      beginMarkedContentProps: ([tag, content]) =>
        this.#marked.push(tag === 'OC' ? this.#drawing.whereShown(content) : 'everywhere'),
      endMarkedContent: () => this.#marked.pop(),
    };
  }

  save(): void {
    this.#saved.push(this.state);
    this.state = { ...this.state };
  }

  restore(): void {
    this.state = this.#saved.pop() ?? this.state;
  }

  #transform(matrix: Matrix | null): void {
    if (matrix !== null) this.state.matrix = multiply(this.state.matrix, matrix);
  }

  #setFont(id: unknown, size: unknown): void {
    this.state.font = typeof id === 'string' ? this.#drawing.fontOf(id) : null;
    this.state.fontSize = Number(size) || 0;
  }

  #set(settings: unknown): void {
    if (!Array.isArray(settings)) return;
    for (const [key, value] of settings as [string, unknown][]) {
      if (key === 'ca') this.state.fillAlpha = Number(value);
      else if (key === 'CA') this.state.strokeAlpha = Number(value);
      else if (key === 'LW') this.state.lineWidth = Number(value);
      else if (key === 'BM') this.state.isBlended = value !== 'source-over';
      else if (key === 'SMask') this.state.isMasked = value !== false;
      else if (key === 'Font' && Array.isArray(value)) this.#setFont(value[0], value[1]);
    }
  }

  /** Shows from here on only what lies within. */
  clip(box: Box, isRectangle: boolean): void {
    const { matrix, clip } = this.state;
    const isTurned = matrix[1] !== 0 || matrix[2] !== 0;
    const isQuarter = matrix[0] === 0 && matrix[3] === 0;
    this.state.clip = intersection(clip, moved(matrix, box));
    this.state.isShaped ||= !isRectangle || (isTurned && !isQuarter);
  }
}

function isMask(group: unknown): boolean {
  return typeof group === 'object' && group !== null && 'smask' in group && group.smask !== null;
}
