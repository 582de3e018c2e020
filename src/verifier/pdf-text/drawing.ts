import type { Font } from './font.ts';
import type { Box, Matrix } from './geometry.ts';

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
