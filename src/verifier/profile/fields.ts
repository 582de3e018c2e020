import { EvidenceError } from '../../core/errors.ts';
import type { Json } from '../../core/json/canonical.ts';
import type { Description } from './description.ts';
import { valueAt } from './path.ts';

/** The fields of one object that play a role; one that is missing or of another type is drift. */
export class RoleFields {
  readonly #what: string;
  readonly #object: Json;
  readonly #contract: Pick<Description, 'name' | 'numbers'>;

  /**
   * @param what the object is, for errors.
   * @throws EvidenceError `contract` when it is no object.
   */
  constructor(what: string, object: Json, contract: Pick<Description, 'name' | 'numbers'>) {
    this.#what = what;
    this.#object = object;
    this.#contract = contract;
    if (typeof object !== 'object' || object === null || Array.isArray(object))
      throw new EvidenceError('contract', `${what} is no JSON object, as the contract "${contract.name}" says it is`);
  }

  /** Reports whether anything, null included, is sent for it. */
  has(path: string): boolean {
    return valueAt(this.#object, path) !== undefined;
  }

  isNull(path: string): boolean {
    return valueAt(this.#object, path) === null;
  }

  text(path: string): string {
    return this.read(path, (sent) => (typeof sent === 'string' ? sent : null), 'a string');
  }

  /** Ids are text; where they are whole numbers, their digits. */
  id(path: string): string {
    const id = (sent: Json | undefined) => (Number.isSafeInteger(sent) ? String(sent) : sent);
    return this.read(path, (sent) => (typeof id(sent) === 'string' ? String(id(sent)) : null), 'an id');
  }

  boolean(path: string): boolean {
    return this.read(path, (sent) => (typeof sent === 'boolean' ? sent : null), 'true or false');
  }

  integer(path: string, least: number): number {
    const asText = this.#contract.numbers === 'text';
    return this.read(
      path,
      (sent) => {
        const number = asText && typeof sent === 'string' && /^\d{1,15}$/.test(sent) ? Number(sent) : sent;
        return typeof number === 'number' && Number.isSafeInteger(number) && number >= least ? number : null;
      },
      `a whole number from ${least} on${asText ? ', written as text' : ''}`,
    );
  }

  /** @param read null for what is not what it should be. */
  read<T>(path: string, read: (sent: Json | undefined) => T | null, wanted: string): T {
    const value = read(valueAt(this.#object, path));
    if (value !== null) return value;
    throw new EvidenceError(
      'contract',
      `the field "${path}" of ${this.#what} is not ${wanted}, as the contract "${this.#contract.name}" says it is`,
    );
  }
}
