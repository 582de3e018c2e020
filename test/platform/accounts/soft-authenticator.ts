import { generateKeyPairSync, hash, type KeyObject, randomBytes, sign } from 'node:crypto';
import type { MakingOptions, PasskeyAnswer, SigningOptions } from '../../../src/platform/accounts/ceremonies.ts';

/** Members of an answer that differ from an honest browser's. */
export interface Lies {
  origin?: string;
  challenge?: string;
  rpId?: string;
  /** Credential id of the whole answer. */
  id?: string;
  type?: string;
  /** Flags of the authenticator data: 1 for user presence, 4 for user verification. */
  flags?: number;
}

const PRESENT = 0x01;
const HAS_CREDENTIAL = 0x40;

/** A WebAuthn Level 3 authenticator and its browser, with one ES256 key. It can lie. */
export class SoftAuthenticator {
  readonly id = randomBytes(16).toString('base64url');
  counter: number;
  readonly #key: KeyObject;
  readonly #origin: string;
  readonly #point: { x: Buffer; y: Buffer };

  /** @param counter null for an authenticator without a counter. */
  constructor(origin: string, counter: number | null = 0) {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
    this.#key = privateKey;
    this.#point = { x: Buffer.from(x, 'base64url'), y: Buffer.from(y, 'base64url') };
    this.#origin = origin;
    this.counter = counter ?? -1;
  }

  make({ challenge, rp }: MakingOptions, lies: Lies = {}, attest: Attest = NONE): PasskeyAnswer {
    const id = Buffer.from(this.id, 'base64url');
    const length = Buffer.from([id.length >> 8, id.length & 0xff]);
    const credential = Buffer.concat([Buffer.alloc(16), length, id, this.#coseKey()]);
    const head = this.#head(lies.rpId ?? rp.id ?? '', (lies.flags ?? PRESENT) | HAS_CREDENTIAL);
    const authData = Buffer.concat([head, credential]);
    const clientData = this.#clientData('webauthn.create', challenge, lies);
    const { fmt, attStmt } = attest(Buffer.concat([authData, hash('sha256', clientData, 'buffer')]), this.#key);
    const attestationObject = cbor(
      new Map<string, Cbor>([
        ['fmt', fmt],
        ['attStmt', attStmt],
        ['authData', authData],
      ]),
    );
    return this.#answer(lies, {
      clientDataJSON: clientData.toString('base64url'),
      attestationObject: attestationObject.toString('base64url'),
      transports: ['internal'],
    });
  }

  sign({ challenge, rpId }: SigningOptions, lies: Lies = {}): PasskeyAnswer {
    const authenticatorData = this.#head(lies.rpId ?? rpId ?? '', lies.flags ?? PRESENT);
    const clientData = this.#clientData('webauthn.get', challenge, lies);
    const signed = Buffer.concat([authenticatorData, hash('sha256', clientData, 'buffer')]);
    return this.#answer(lies, {
      clientDataJSON: clientData.toString('base64url'),
      authenticatorData: authenticatorData.toString('base64url'),
      signature: sign('sha256', signed, this.#key).toString('base64url'),
    });
  }

  #answer({ id = this.id }: Lies, response: object): PasskeyAnswer {
    return { id, rawId: id, type: 'public-key', response, clientExtensionResults: {} };
  }

  #clientData(type: string, challenge: string, lies: Lies): Buffer {
    const data = { type, challenge, origin: this.#origin, crossOrigin: false, ...lies };
    return Buffer.from(JSON.stringify(data));
  }

  #head(rpId: string, flags: number): Buffer {
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(this.counter < 0 ? 0 : ++this.counter);
    return Buffer.concat([hash('sha256', rpId, 'buffer'), Buffer.from([flags]), counter]);
  }

  /** Encodes an EC2 key of P-256 for ES256 (RFC 9053, section 7.1.1). */
  #coseKey(): Buffer {
    const { x, y } = this.#point;
    return cbor(
      new Map<number, Cbor>([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, x],
        [-3, y],
      ]),
    );
  }
}

/** Makes an attestation. @param signed bytes that the statement signs. @param key of the passkey. */
export type Attest = (signed: Buffer, key: KeyObject) => { fmt: string; attStmt: Map<string, Cbor> };

const NONE: Attest = () => ({ fmt: 'none', attStmt: new Map() });

/** Makes a packed attestation, signed by the passkey itself or with a certificate's key. */
export function packed(certificate?: { der: Buffer; key: KeyObject }): Attest {
  return (signed, key) => ({
    fmt: 'packed',
    attStmt: new Map<string, Cbor>([
      ['alg', -7],
      ['sig', sign('sha256', signed, certificate?.key ?? key)],
      ...(certificate === undefined ? [] : [['x5c', [certificate.der]] as const]),
    ]),
  });
}

type Cbor = number | string | Buffer | readonly Cbor[] | Map<string, Cbor> | Map<number, Cbor>;

/** Encodes the subset of RFC 8949 that authenticators use. */
function cbor(value: Cbor): Buffer {
  if (typeof value === 'number') return value < 0 ? headOf(1, -1 - value) : headOf(0, value);
  if (typeof value === 'string') return Buffer.concat([headOf(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (Buffer.isBuffer(value)) return Buffer.concat([headOf(2, value.length), value]);
  if (value instanceof Map)
    return Buffer.concat([headOf(5, value.size), ...[...value].flatMap(([key, each]) => [cbor(key), cbor(each)])]);
  const all = value as readonly Cbor[];
  return Buffer.concat([headOf(4, all.length), ...all.map(cbor)]);
}

function headOf(major: number, length: number): Buffer {
  if (length < 24) return Buffer.from([(major << 5) | length]);
  if (length < 256) return Buffer.from([(major << 5) | 24, length]);
  return Buffer.from([(major << 5) | 25, length >> 8, length & 0xff]);
}
