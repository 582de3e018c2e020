import { utf8Text } from '../../../core/bytes.ts';
import type { UnhashedAt } from '../../model/batch.ts';
import { compareGravity, type Unhashed } from '../../model/unhashed.ts';
import type { RecipeProgram } from '../../recipe/recipe-program.ts';
import { SIZES, UNHASHED, UNHASHED_ROW, valuesOf } from './layout.ts';
import type { KernelSettings } from './settings.ts';

const KIND = valuesOf(UNHASHED);
const WORD = valuesOf(UNHASHED_ROW);
export const ROW_WORDS = Object.keys(WORD).length;

/** Reads the unhashed parts that the module notes, and returns them in the order of the reference decoder. */
export class UnhashedRows {
  readonly #program: RecipeProgram;
  readonly #settings: Pick<KernelSettings, 'steps' | 'members'>;
  readonly #gravity: ReturnType<typeof compareGravity>;

  constructor(program: RecipeProgram, settings: Pick<KernelSettings, 'steps' | 'members'>) {
    this.#program = program;
    this.#settings = settings;
    this.#gravity = compareGravity(program.roleOrder);
  }

  /** @param count number of accepted entries; notes about later ones are skipped. */
  read(rows: Uint32Array, count: number, input: Uint8Array): UnhashedAt[] {
    const { always } = this.#program;
    if (rows.length === 0 && always.length === 0) return NOTHING;
    const found = always.map((unhashed) => ({ entry: 0, unhashed }));
    for (let start = 0; start < rows.length; start += ROW_WORDS) {
      const word = (name: keyof typeof WORD) => rows[start + WORD[name]] ?? 0;
      const entry = word('entry');
      if (entry >= count) continue;
      const name = utf8Text(input.subarray(word('name'), word('name') + word('length')));
      found.push({ entry, unhashed: this.#toUnhashed(word('kind'), word('index'), name) });
    }
    return found.sort((one, other) => one.entry - other.entry || this.#gravity(one.unhashed, other.unhashed));
  }

  #toUnhashed(kind: number, index: number, name: string): Unhashed {
    if (kind === KIND.member) {
      const container = index === SIZES.NOWHERE ? [] : (this.#settings.members[index] ?? []);
      return { kind: 'member', path: [...container, name] };
    }
    const step = this.#settings.steps[index];
    const ofStep = step !== undefined && 'unhashed' in step ? step.unhashed : null;
    const unhashed = kind === KIND.group ? this.#program.groups[index]?.unhashed : ofStep;
    if (unhashed == null) throw new TypeError('the module notes what the program does not know');
    return unhashed;
  }
}

const NOTHING: UnhashedAt[] = [];
