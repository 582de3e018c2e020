import { EvidenceError } from '../../core/errors.ts';
import type { Json } from '../../core/json/canonical.ts';
import type { Description } from './description.ts';
import { valueAt } from './path.ts';

/** Fields of one object that play a role. A missing field, or one of another type, is contract drift. */
export class RoleFields {
  readonly #what: string;
  readonly #object: Json;
  readonly #contract: Pick<Description, 'name' | 'numbers'>;

  /**
   * @param what name of the object in errors.
   * @throws EvidenceError `contract` if it is no object.
   */
  constructor(what: string, object: Json, contract: Pick<Description, 'name' | 'numbers'>) {
    this.#what = what;
    this.#object = object;
    this.#contract = contract;
    if (typeof object !== 'object' || object === null || Array.isArray(object))
      throw new EvidenceError('contract', `${what} is no JSON object, as the contract "${contract.name}" says it is`);
  }

  /** Reports whether a value is sent for the path, null included. */
  has(path: string): boolean {
    return valueAt(this.#object, path) !== undefined;
  }

  isNull(path: string): boolean {
    return valueAt(this.#object, path) === null;
  }

  text(path: string): string {
    return this.read(path, (sent) => (typeof sent === 'string' ? sent : null), 'a string');
  }

  /** Returns an id: a text, or the digits of a whole number. */
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

  /** @param read returns null for a wrong value. */
  read<T>(path: string, read: (sent: Json | undefined) => T | null, wanted: string): T {
    const value = read(valueAt(this.#object, path));
    if (value !== null) return value;
    throw new EvidenceError(
      'contract',
      `the field "${path}" of ${this.#what} is not ${wanted}, as the contract "${this.#contract.name}" says it is`,
    );
  }
}
