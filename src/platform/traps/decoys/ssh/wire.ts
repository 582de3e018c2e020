/** Data types of RFC 4251 section 5. */
export function sshUint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

export function sshString(value: Uint8Array | string): Buffer {
  const bytes = typeof value === 'string' ? Buffer.from(value) : value;
  return Buffer.concat([sshUint32(bytes.length), bytes]);
}

/** @param value big-endian, without a sign: it is a positive number. */
export function sshNumber(value: Uint8Array): Buffer {
  const start = value.findIndex((byte) => byte !== 0);
  const digits = start === -1 ? Buffer.alloc(0) : value.subarray(start);
  return sshString((digits[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.alloc(1), digits]) : digits);
}

/** A message: its number, and what follows. */
export function sshMessage(number: number, ...parts: Uint8Array[]): Buffer {
  return Buffer.concat([Buffer.from([number]), ...parts]);
}

/** Reads the fields of a message. @throws SshFormatError where it ends too early. */
export class SshReader {
  readonly #bytes: Buffer;
  #at: number;

  /** @param at where the fields begin: after the number of a message. */
  constructor(bytes: Buffer, at = 1) {
    this.#bytes = bytes;
    this.#at = at;
  }

  /** The bytes read so far. */
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

/** The other side sent something that the protocol does not know. */
export class SshFormatError extends Error {}
