/** An annotation as pdf.js describes it. */
export interface Annotation {
  subtype?: string;
  /** ISO 32000-1 table 165. */
  annotationFlags?: number;
  /** Whether it brings a drawing of itself. */
  hasAppearance?: boolean;
  /** Of a form field, e.g. `Tx`, or `Sig` for a signature. */
  fieldType?: string | null;
  rect?: number[];
  borderStyle?: { rawWidth?: number };
}

const [HIDDEN, NO_VIEW] = [2, 32];
/** In points: the frame around a link. */
const THIN = 2;

/** Whether a viewer may draw an annotation of which the page's own drawing has nothing. */
export function isForeign({
  subtype,
  annotationFlags = 0,
  hasAppearance,
  fieldType,
  rect,
  borderStyle,
}: Annotation): boolean {
  const [left = 0, bottom = 0, right = 0, top = 0] = rect ?? [];
  if ((annotationFlags & HIDDEN) !== 0 || subtype === 'Popup' || left === right || bottom === top) return false;
  if (subtype === 'Link' && hasAppearance !== true) return (borderStyle?.rawWidth ?? 1) > THIN;
  // What is typed into a field, viewers set anew.
  if (subtype === 'Widget' && fieldType !== 'Sig') return true;
  return hasAppearance !== true || (annotationFlags & NO_VIEW) !== 0;
}
