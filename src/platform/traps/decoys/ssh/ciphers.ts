import { createCipheriv, createDecipheriv, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Incoming } from '../incoming.ts';
import { sshUint32 } from './wire.ts';

/** Encrypts and decrypts the packets of one direction. */
export interface PacketCipher {
  seal(sequence: number, payload: Uint8Array): Buffer;
  /** @returns the payload; null if the client has disconnected or sent a packet that cannot be decrypted. */
  open(sequence: number, incoming: Incoming): Promise<Buffer | null>;
}

/** Key material by the purposes of RFC 4253 section 7.2. */
export interface DirectionKeys {
  iv: (length: number) => Buffer;
  key: (length: number) => Buffer;
  mac: (length: number) => Buffer;
}

/** Maximum length of a packet that is read. */
const LONGEST = 64 * 1024;
const KEY_BYTES: Record<string, number> = { aes128: 16, aes192: 24, aes256: 32 };

export function packetCipher(name: string, mac: string, keys: DirectionKeys): PacketCipher {
  return name.endsWith('-gcm@openssh.com') ? gcm(name, keys) : counter(name, mac, keys);
}

/** Cipher before keys are agreed. Its padding consists of zeros, as in OpenSSH. */
export const NO_CIPHER: PacketCipher = {
  seal: (_, payload) => padded(payload, 8, 0, (length) => Buffer.alloc(length)),
  async open(_, incoming) {
    const length = await packetLength(incoming, 8, 4);
    const packet = length === null ? null : await incoming.take(length);
    return packet === null ? null : unpadded(packet);
  },
};

/**
 * Returns length, padding length, payload and padding. @param apart number of leading bytes outside the cipher blocks.
 */
function padded(
  payload: Uint8Array,
  block: number,
  apart: number,
  fill = (length: number) => randomBytes(length),
): Buffer {
  const missing = block - ((5 + payload.length - apart) % block);
  const padding = missing < 4 ? missing + block : missing;
  const head = Buffer.alloc(5);
  head.writeUInt32BE(1 + payload.length + padding);
  head[4] = padding;
  return Buffer.concat([head, payload, fill(padding)]);
}

/** @param packet without its length field. */
function unpadded(packet: Buffer): Buffer | null {
  const end = packet.length - (packet[0] ?? 0);
  return end < 2 ? null : packet.subarray(1, end);
}

async function packetLength(incoming: Incoming, block: number, apart: number): Promise<number | null> {
  const bytes = await incoming.take(4);
  return bytes === null ? null : checkedLength(bytes, block, apart);
}

function checkedLength(bytes: Buffer, block: number, apart: number): number | null {
  const length = bytes.readUInt32BE();
  return length < 5 || length > LONGEST || (length + apart) % block !== 0 ? null : length;
}

/** Returns AES-GCM of RFC 5647, as implemented by OpenSSH. */
function gcm(name: string, keys: DirectionKeys): PacketCipher {
  const algorithm = name.startsWith('aes128') ? 'aes-128-gcm' : 'aes-256-gcm';
  const key = keys.key(name.startsWith('aes128') ? 16 : 32);
  const nonce = Buffer.from(keys.iv(12));
  const advance = () => nonce.writeBigUInt64BE(BigInt.asUintN(64, nonce.readBigUInt64BE(4) + 1n), 4);
  return {
    seal(_, payload) {
      const packet = padded(payload, 16, 4);
      const cipher = createCipheriv(algorithm, key, nonce).setAAD(packet.subarray(0, 4));
      const sealed = Buffer.concat([packet.subarray(0, 4), cipher.update(packet.subarray(4)), cipher.final()]);
      advance();
      return Buffer.concat([sealed, cipher.getAuthTag()]);
    },
    async open(_, incoming) {
      const length = await packetLength(incoming, 16, 0);
      const sealed = length === null ? null : await incoming.take(length + 16);
      if (length === null || sealed === null) return null;
      const decipher = createDecipheriv(algorithm, key, nonce)
        .setAAD(sshUint32(length))
        .setAuthTag(sealed.subarray(length));
      const packet = decipher.update(sealed.subarray(0, length));
      try {
        decipher.final();
      } catch {
        return null;
      }
      advance();
      return unpadded(packet);
    },
  };
}

/** Returns AES-CTR of RFC 4344 with a MAC of RFC 6668; with `-etm`, the MAC covers the encrypted packet. */
function counter(name: string, macName: string, keys: DirectionKeys): PacketCipher {
  const kind = name.slice(0, 6);
  const algorithm = `aes-${kind.slice(3)}-ctr`;
  const [key, iv] = [keys.key(KEY_BYTES[kind] ?? 0), keys.iv(16)];
  const hash = macName.includes('512') ? 'sha512' : 'sha256';
  const size = hash === 'sha512' ? 64 : 32;
  const macKey = keys.mac(size);
  const macOf = (sequence: number, bytes: Uint8Array) =>
    createHmac(hash, macKey).update(sshUint32(sequence)).update(bytes).digest();
  const encrypt = createCipheriv(algorithm, key, iv);
  const decrypt = createDecipheriv(algorithm, key, iv);
  const isFirst = macName.includes('-etm@');
  return {
    seal(sequence, payload) {
      const packet = padded(payload, 16, isFirst ? 4 : 0);
      const sealed = isFirst
        ? Buffer.concat([packet.subarray(0, 4), encrypt.update(packet.subarray(4))])
        : encrypt.update(packet);
      return Buffer.concat([sealed, macOf(sequence, isFirst ? sealed : packet)]);
    },
    async open(sequence, incoming) {
      const head = await incoming.take(isFirst ? 4 : 16);
      if (head === null) return null;
      const begun = isFirst ? head : decrypt.update(head);
      const length = checkedLength(begun, 16, isFirst ? 0 : 4);
      const rest = length === null ? null : await incoming.take(length + 4 - head.length + size);
      if (rest === null) return null;
      const sealed = rest.subarray(0, -size);
      const opened = isFirst ? null : Buffer.concat([begun, decrypt.update(sealed)]);
      const mac = macOf(sequence, opened ?? Buffer.concat([head, sealed]));
      if (!timingSafeEqual(mac, rest.subarray(-size))) return null;
      return unpadded(opened?.subarray(4) ?? decrypt.update(sealed));
    },
  };
}
