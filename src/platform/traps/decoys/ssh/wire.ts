/** Returns a uint32. The functions of this file write the data types of RFC 4251 section 5. */
export function sshUint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

export function sshString(value: Uint8Array | string): Buffer {
  const bytes = typeof value === 'string' ? Buffer.from(value) : value;
  return Buffer.concat([sshUint32(bytes.length), bytes]);
}

/** Returns a positive mpint. @param value big-endian and unsigned. */
export function sshNumber(value: Uint8Array): Buffer {
  const start = value.findIndex((byte) => byte !== 0);
  const digits = start === -1 ? Buffer.alloc(0) : value.subarray(start);
  return sshString((digits[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.alloc(1), digits]) : digits);
}

/** Returns a message: its number, followed by its fields. */
export function sshMessage(number: number, ...parts: Uint8Array[]): Buffer {
  return Buffer.concat([Buffer.from([number]), ...parts]);
}

/** Reads the fields of a message. @throws SshFormatError if the message ends too early. */
export class SshReader {
  readonly #bytes: Buffer;
  #at: number;

  /** @param at start of the fields, after the message number. */
  constructor(bytes: Buffer, at = 1) {
    this.#bytes = bytes;
    this.#at = at;
  }

  /** Returns the bytes read so far. */
  get before(): Buffer {
    return this.#bytes.subarray(0, this.#at);
  }

  take(count: number): Buffer {
    if (this.#at + count > this.#bytes.length) throw new SshFormatError('a message ends too early');
    this.#at += count;
    return this.#bytes.subarray(this.#at - count, this.#at);
  }

  flag(): boolean {
    return this.take(1)[0] !== 0;
  }

  uint32(): number {
    return this.take(4).readUInt32BE();
  }

  bytes(): Buffer {
    return this.take(this.uint32());
  }

  text(): string {
    return this.bytes().toString('utf8');
  }

  names(): string[] {
    return this.text().split(',');
  }
}

/** Error for a message that violates the protocol. */
export class SshFormatError extends Error {}
