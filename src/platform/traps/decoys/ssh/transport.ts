import type { Socket } from 'node:net';
import { type Incoming, sendTo } from '../incoming.ts';
import { NO_CIPHER, type PacketCipher } from './ciphers.ts';
import { SshReader, sshMessage, sshString, sshUint32 } from './wire.ts';

/** Message numbers of RFC 4250 section 4.1. */
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

/** Packets to and from one peer. */
export class SshTransport {
  readonly #socket: Socket;
  readonly #incoming: Incoming;
  #sealing = NO_CIPHER;
  #opening = NO_CIPHER;
  #sent = 0;
  #received = 0;
  /**
   * True after strict key exchange was negotiated: no other messages may come between, and the sequence numbers restart
   * afterwards.
   */
  isStrict = false;

  constructor(socket: Socket, incoming: Incoming) {
    this.#socket = socket;
    this.#incoming = incoming;
  }

  /** Sequence number of the last packet read. */
  get lastSequence(): number {
    return (this.#received - 1) >>> 0;
  }

  /** Returns the next message for the layers above; null at the end. */
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

  /** @returns true if the peer is still connected. */
  send(...messages: Uint8Array[]): Promise<boolean> {
    const packets = messages.map((message) => this.#seal(message));
    return sendTo(this.#socket, Buffer.concat(packets));
  }

  /** Sends a disconnect message with the reason. */
  async disconnect(reason: string): Promise<void> {
    await this.send(sshMessage(SSH.disconnect, sshUint32(PROTOCOL_ERROR), sshString(reason), sshString('')));
  }

  /** Encrypts all following messages with new keys. */
  renewSealing(cipher: PacketCipher): void {
    this.#sealing = cipher;
    if (this.isStrict) this.#sent = 0;
  }

  /** Decrypts all following messages with new keys. */
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

/** Lists in a KEXINIT message: RFC 4253 section 7.1. */
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

/** Offer of the peer, with separate lists for each direction. */
export interface KexOffer {
  kex: string[];
  hostKey: string[];
  ciphers: [toServer: string[], toClient: string[]];
  macs: [toServer: string[], toClient: string[]];
  /** True if a guessed first message of the exchange follows. */
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
