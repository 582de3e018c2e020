import type { SecretBox } from '../../secrets.ts';
import type { AgentTables } from '../tables.ts';
import { type CertificateAuthority, issueAuthorityCertificate, type Validity } from './certificates.ts';
import { type AgentKeyName, fromPkcs8, newKeyPair, type PublicJwk, toPkcs8 } from './keys.ts';
import type { CertificateKind, SignatureAlgorithm } from './kinds.ts';
import type { PlatformSigner } from './signatures.ts';
import { wholeSecond } from './x509.ts';

/** One generation of the platform's own keys. */
export interface KeyGeneration extends Validity {
  /** From 1 on. */
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

/** New keys, and certificates for those that sign certificates. */
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

/** @throws Error when the row was not sealed with the master key of this platform. */
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
