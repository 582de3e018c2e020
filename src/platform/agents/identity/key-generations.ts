import type { Reader, Transaction } from '../../database/database.ts';
import type { SecretBox } from '../../secrets.ts';
import type { CertificateKind, SignatureAlgorithm } from '../enums.ts';
import type { AgentTables } from '../tables.ts';
import { type CertificateAuthority, issueAuthorityCertificate, type Validity, wholeSecond } from './certificates.ts';
import type { AgentKeyName, PublicJwk } from './identity-rows.ts';
import { fromPkcs8, newKeyPair, toPkcs8 } from './keys.ts';
import type { PlatformSigner } from './tokens.ts';

const DAY_MS = 86_400_000;
/** Validity of everything issued to an agent. */
export const LEAF_DAYS = 365;
/** Validity of a generation of the platform's keys. */
const KEY_YEARS = 10;
/** Time from the publication of a generation to its first use. */
const LEAD_DAYS = 365;
/** Maximum time by which a verifier's clock may be slow. */
export const CLOCK_SKEW_MS = 60_000;

/**
 * Platform's own keys. The next generation is created and published a year before the current one signs its last
 * certificate, so that verifiers have it in time. Signatures of a generation stay verifiable until the generation
 * expires.
 */
export class KeyGenerations {
  readonly #box: SecretBox;
  readonly #trustDomain: () => string;
  readonly #opened = new Map<number, KeyGeneration>();

  constructor(box: SecretBox, trustDomain: () => string) {
    this.#box = box;
    this.#trustDomain = trustDomain;
  }

  /** Creates the first generation, and the next one if the last is about to expire. */
  async prepare(transaction: Transaction, now: Date): Promise<void> {
    // Counted before the check, so that a generation created concurrently is either seen or has the same number.
    const generation = (await this.#count(transaction)) + 1;
    const newest = (await this.inForce(transaction, now)).at(-1);
    const neededUntil = now.getTime() + (LEAF_DAYS + LEAD_DAYS) * DAY_MS;
    if (newest !== undefined && newest.notAfter.getTime() >= neededUntil) return;
    const notAfter = new Date(now);
    notAfter.setUTCFullYear(now.getUTCFullYear() + KEY_YEARS);
    const notBefore = new Date(now.getTime() - CLOCK_SKEW_MS);
    const terms = { generation, trustDomain: this.#trustDomain(), notBefore, notAfter };
    const insert = transaction.tables<AgentTables>().insertInto('agent_authorities');
    const row = await makeKeyGeneration(terms, this.#box);
    // Another process may have created the generation in the meantime.
    await insert
      .values(row)
      .onConflict((conflict) => conflict.column('generation').doNothing())
      .execute();
  }

  /** Returns the generations that have not expired, oldest first. */
  async inForce(reader: Reader, now: Date): Promise<KeyGeneration[]> {
    const rows = reader.tables<AgentTables>().selectFrom('agent_authorities').selectAll();
    const standing = await rows.where('not_after', '>', now.toISOString()).orderBy('generation').execute();
    const generations: KeyGeneration[] = [];
    for (const row of standing) {
      const opened = this.#opened.get(row.generation) ?? openKeyGeneration(row, this.#box);
      this.#opened.set(row.generation, opened);
      generations.push(opened);
    }
    return generations;
  }

  /**
   * Returns the generation that signs now, which outlives every certificate that it signs.
   * @throws Error if `prepare` has not created one yet.
   */
  async signing(reader: Reader, now: Date): Promise<KeyGeneration> {
    const last = now.getTime() + LEAF_DAYS * DAY_MS;
    const signing = (await this.inForce(reader, now)).find(({ notAfter }) => notAfter.getTime() >= last);
    if (signing === undefined) throw new Error('the signing keys for agents do not exist yet');
    return signing;
  }

  async #count(reader: Reader): Promise<number> {
    const rows = reader.tables<AgentTables>().selectFrom('agent_authorities');
    const row = await rows.select('generation').orderBy('generation', 'desc').executeTakeFirst();
    return row?.generation ?? 0;
  }
}

/** Generation of the platform's own keys. */
export interface KeyGeneration extends Validity {
  /** Number, from 1. */
  generation: number;
  certificates: Readonly<Record<CertificateKind, CertificateAuthority>>;
  signers: Readonly<Record<SignatureAlgorithm, PlatformSigner>>;
}

const PURPOSES = {
  ecdsa: 'ecdsa_p256',
  ml_dsa_65: 'ml_dsa_65',
  EdDSA: 'ed25519',
  'ML-DSA-65': 'ml_dsa_65',
} as const satisfies Record<CertificateKind | SignatureAlgorithm, AgentKeyName>;
type Purpose = keyof typeof PURPOSES;

const ownerOf = (generation: number) => `authority ${generation}`;

/** Creates new keys, and certificates for those that sign certificates. */
export async function makeKeyGeneration(
  { generation, trustDomain, notBefore, notAfter }: { generation: number; trustDomain: string } & Validity,
  box: SecretBox,
): Promise<AgentTables['agent_authorities']> {
  const made = {
    ecdsa: await newKeyPair(PURPOSES.ecdsa),
    ml_dsa_65: await newKeyPair(PURPOSES.ml_dsa_65),
    EdDSA: await newKeyPair(PURPOSES.EdDSA),
    'ML-DSA-65': await newKeyPair(PURPOSES['ML-DSA-65']),
  };
  const certify = (kind: CertificateKind, words: string) => {
    const { publicKey, privateKey: key } = made[kind];
    const validity = { notBefore: wholeSecond(notBefore), notAfter: wholeSecond(notAfter) };
    const commonName = `Agents of ${trustDomain}, ${words} authority ${generation}`;
    return issueAuthorityCertificate({ kind, publicKey, ...validity }, { key, commonName, trustDomain });
  };
  const secrets = Object.entries(made).map(([purpose, { privateKey }]) => [
    purpose,
    toPkcs8(privateKey).toString('base64'),
  ]);
  const sealed = Buffer.from(JSON.stringify(Object.fromEntries(secrets)));
  return {
    generation,
    made_at: notBefore.toISOString(),
    not_after: wholeSecond(notAfter).toISOString(),
    ecdsa_pem: await certify('ecdsa', 'ECDSA'),
    ml_dsa_65_pem: await certify('ml_dsa_65', 'ML-DSA-65'),
    public_keys: JSON.stringify([made.EdDSA.publicJwk, made['ML-DSA-65'].publicJwk]),
    private_keys: box.seal(sealed, ownerOf(generation)),
  };
}

/** @throws Error if the row was not sealed with the master key of this platform. */
export function openKeyGeneration(row: AgentTables['agent_authorities'], box: SecretBox): KeyGeneration {
  const opened = box.open(row.private_keys, ownerOf(row.generation)).toString();
  const secrets = JSON.parse(opened) as Record<Purpose, string>;
  const published = JSON.parse(row.public_keys) as PublicJwk[];
  const key = (purpose: Purpose) => fromPkcs8(Buffer.from(secrets[purpose], 'base64'));
  const signer = (algorithm: SignatureAlgorithm): PlatformSigner => {
    const publicJwk = published.find(({ alg }) => alg === algorithm);
    if (publicJwk === undefined) throw new Error(`generation ${row.generation} has no public key for ${algorithm}`);
    return { algorithm, publicJwk, key: key(algorithm) };
  };
  return {
    generation: row.generation,
    notBefore: new Date(row.made_at),
    notAfter: new Date(row.not_after),
    certificates: {
      ecdsa: { kind: 'ecdsa', pem: row.ecdsa_pem, key: key('ecdsa') },
      ml_dsa_65: { kind: 'ml_dsa_65', pem: row.ml_dsa_65_pem, key: key('ml_dsa_65') },
    },
    signers: { EdDSA: signer('EdDSA'), 'ML-DSA-65': signer('ML-DSA-65') },
  };
}
