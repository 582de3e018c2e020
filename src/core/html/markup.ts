import { nameUnseen } from './unseen.ts';

/** Text, or markup that is made when it is written. */
type Piece = string | (() => Iterable<Markup>);

/** HTML that is ready to be written: text from outside is escaped. */
export class Markup {
  readonly pieces: readonly Piece[];

  constructor(pieces: readonly Piece[]) {
    this.pieces = pieces;
  }

  *write(): Generator<string> {
    for (const piece of this.pieces) {
      if (typeof piece === 'string') yield piece;
      else for (const part of piece()) yield* part.write();
    }
  }
}

export type MarkupContent = Markup | string | number | null | readonly MarkupContent[];

/**
 * Returns the markup of a template, with values escaped unless they are markup. Null is nothing, a list is its members.
 */
export function markup(parts: TemplateStringsArray, ...values: MarkupContent[]): Markup {
  const pieces: Piece[] = [];
  let text = parts[0] ?? '';
  values.forEach((value, index) => {
    for (const piece of piecesOf(value)) {
      if (typeof piece === 'string') text += piece;
      else {
        pieces.push(text, piece);
        text = '';
      }
    }
    text += parts[index + 1] ?? '';
  });
  return new Markup([...pieces, text]);
}

/** Returns the markup of each of many things, made one at a time while it is written. */
export function each<T>(things: Iterable<T>, make: (thing: T) => Markup): Markup {
  return new Markup([
    function* () {
      for (const thing of things) yield make(thing);
    },
  ]);
}

function piecesOf(content: MarkupContent): readonly Piece[] {
  if (content === null) return [];
  if (content instanceof Markup) return content.pieces;
  if (typeof content === 'number') return [String(content)];
  return typeof content === 'string' ? [escaped(content)] : content.flatMap(piecesOf);
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Escapes text so that it can end no element or attribute and hides nothing. */
function escaped(text: string): string {
  return nameUnseen(text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? ''));
}

/** Returns the markup of a name from outside, whichever direction its script runs. */
export function name(text: string): Markup {
  return markup`<bdi>${text}</bdi>`;
}
