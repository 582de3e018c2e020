import type { Color } from './canvas.ts';
import type { Style } from './fonts.ts';

export const INK: Color = [0.1, 0.11, 0.13];
export const GREY: Color = [0.38, 0.41, 0.45];
export const ACCENT: Color = [0.09, 0.24, 0.44];
export const HAIRLINE: Color = [0.78, 0.8, 0.83];

export interface Setting {
  style: Style;
  size: number;
  /** Distance between baselines in points. */
  leading: number;
  color: Color;
  /** Target of a link on the text. */
  link?: string;
}
