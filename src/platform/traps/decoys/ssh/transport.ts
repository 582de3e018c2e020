import type { Socket } from 'node:net';
import { type Incoming, sendTo } from '../incoming.ts';
import { NO_CIPHER, type PacketCipher } from './ciphers.ts';
import { SshReader, sshMessage, sshString, sshUint32 } from './wire.ts';

/** Numbers of messages: RFC 4250 section 4.1. */
export const SSH = {
  disconnect: 1,
  ignore: 2,
  unimplemented: 3,
  debug: 4,
  serviceRequest: 5,
  serviceAccept: 6,
  extensions: 7,
  kexInit: 20,
  newKeys: 21,
  ecdhInit: 30,
  ecdhReply: 31,
  authRequest: 50,
  authFailure: 51,
  keyIsOk: 60,
};
const PROTOCOL_ERROR = 2;

/** Packets to and from one other side. */
export class SshTransport {
  readonly #socket: Socket;
  readonly #incoming: Incoming;
  #sealing = NO_CIPHER;
  #opening = NO_CIPHER;
  #sent = 0;
  #received = 0;
  /** Strict key exchange: nothing else comes between its messages, and counting begins anew after it. */
  isStrict = false;

  constructor(socket: Socket, incoming: Incoming) {
    this.#socket = socket;
    this.#incoming = incoming;
  }

  /** The number of the last packet that was read. */
  get lastSequence(): number {
    return (this.#received - 1) >>> 0;
  }

  /** The next message that is for somebody; null for the end. */
  async read(): Promise<Buffer | null> {
    for (;;) {
      const payload = await this.#opening.open(this.#received, this.#incoming);
      if (payload === null) return null;
      this.#received = (this.#received + 1) >>> 0;
      const type = payload[0];
      if (type === SSH.disconnect) return null;
      if (type !== SSH.ignore && type !== SSH.debug && type !== SSH.unimplemented) return payload;
    }
  }

  /** @returns whether the other side is there. */
  send(...messages: Uint8Array[]): Promise<boolean> {
    const packets = messages.map((message) => this.#seal(message));
    return sendTo(this.#socket, Buffer.concat(packets));
  }

  /** Tells the other side why it ends. */
  async disconnect(reason: string): Promise<void> {
    await this.send(sshMessage(SSH.disconnect, sshUint32(PROTOCOL_ERROR), sshString(reason), sshString('')));
  }

  /** The next message goes out under new keys. */
  renewSealing(cipher: PacketCipher): void {
    this.#sealing = cipher;
    if (this.isStrict) this.#sent = 0;
  }

  /** The next message comes under new keys. */
  renewOpening(cipher: PacketCipher): void {
    this.#opening = cipher;
    if (this.isStrict) this.#received = 0;
  }

  #seal(message: Uint8Array): Buffer {
    const packet = this.#sealing.seal(this.#sent, message);
    this.#sent = (this.#sent + 1) >>> 0;
    return packet;
  }
}

/** The lists of a KEXINIT: RFC 4253 section 7.1. */
export interface KexLists {
  kex: readonly string[];
  hostKey: readonly string[];
  cipher: readonly string[];
  mac: readonly string[];
  compression: readonly string[];
}

/** @param cookie of 16 random bytes. */
export function kexInit(cookie: Uint8Array, { kex, hostKey, cipher, mac, compression }: KexLists): Buffer {
  const lists = [kex, hostKey, cipher, cipher, mac, mac, compression, compression, [], []];
  return sshMessage(SSH.kexInit, cookie, ...lists.map((names) => sshString(names.join(','))), Buffer.alloc(5));
}

/** The other side's offer, with lists of its own for each direction. */
export interface KexOffer {
  kex: string[];
  hostKey: string[];
  ciphers: [toServer: string[], toClient: string[]];
  macs: [toServer: string[], toClient: string[]];
  /** A guess at the first message follows. */
  isGuessing: boolean;
}

export function readKexInit(payload: Buffer): KexOffer {
  const reader = new SshReader(payload, 17);
  const [kex, hostKey, ...lists] = Array.from({ length: 10 }, () => reader.names()) as [
    string[],
    string[],
    ...string[][],
  ];
  const [cipherIn = [], cipherOut = [], macIn = [], macOut = []] = lists;
  return { kex, hostKey, ciphers: [cipherIn, cipherOut], macs: [macIn, macOut], isGuessing: reader.flag() };
}
