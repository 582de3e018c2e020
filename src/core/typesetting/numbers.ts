/** A list of whole numbers of 32 bits that costs four bytes for each. */
export class Numbers {
  #values = new Int32Array(1024);
  #length = 0;

  /** @returns its place. */
  push(value: number): number {
    if (this.#length === this.#values.length) {
      const larger = new Int32Array(2 * this.#length);
      larger.set(this.#values);
      this.#values = larger;
    }
    this.#values[this.#length] = value;
    return this.#length++;
  }

  at(place: number): number {
    return this.#values[place] ?? 0;
  }

  set(place: number, value: number): void {
    this.#values[place] = value;
  }
}
