/** Numbers as a zip writes them, by the place of their first byte. */
export class LittleEndian {
  readonly #view: DataView;

  constructor(bytes: Uint8Array) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  u16(at: number): number {
    return this.#view.getUint16(at, true);
  }

  u32(at: number): number {
    return this.#view.getUint32(at, true);
  }

  /** Above 2^53 the double next to it, which is beyond the end of any file. */
  u64(at: number): number {
    return Number(this.#view.getBigUint64(at, true));
  }
}
