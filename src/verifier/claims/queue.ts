/** First in, first out; what was taken is let go of in blocks. */
export class Queue<Item> {
  #items: Item[] = [];
  #at = 0;

  add(item: Item): void {
    this.#items.push(item);
  }

  get first(): Item | undefined {
    return this.#items[this.#at];
  }

  get empty(): boolean {
    return this.#at === this.#items.length;
  }

  take(): Item | undefined {
    const item = this.#items[this.#at];
    if (item === undefined) return undefined;
    this.#at++;
    if (this.#at === 1024) {
      this.#items = this.#items.slice(this.#at);
      this.#at = 0;
    }
    return item;
  }
}
