import { randomUUID, X509Certificate } from 'node:crypto';
import type { Reader, Transaction } from '../../database/database.ts';
import { rowInserter } from '../../rows.ts';
import type { SecretBox } from '../../secrets.ts';
import type { Agent } from '../agent-rows.ts';
import type { AgentServiceDeps, IssuedIdentity, IssuerPort } from '../deps.ts';
import type { CertificateKind } from '../enums.ts';
import { AGENT_TABLES } from '../tables.ts';
import { IdentityAddresses } from './addresses.ts';
import { type IssuedCertificate, issueAgentCertificate, wholeSecond } from './certificates.ts';
import {
  type AgentKeyName,
  type AgentPublicKeys,
  changeIdentity,
  changePassport,
  currentIdentity,
  revokeCertificates,
} from './identity-rows.ts';
import { CLOCK_SKEW_MS, type KeyGeneration, KeyGenerations, LEAF_DAYS } from './key-generations.ts';
import { type AgentPrivateKeys, newKeyPair, toPkcs8Pem } from './keys.ts';
import { Published } from './published.ts';
import {
  type CertificateClaim,
  PASSPORT_FORMAT,
  type PassportClaims,
  type SecurityEvent,
  signPassport,
  signSecurityEventToken,
} from './tokens.ts';

type Deps = Pick<AgentServiceDeps, 'database' | 'clock' | 'publicUrl'>;

/** Issues identities, and signs the platform's statements about them. */
export class Issuer implements IssuerPort {
  readonly published: Published;
  readonly #deps: Deps;
  readonly #generations: KeyGenerations;

  /** @param box seals the platform's own keys: `agents/authorities`. */
  constructor(deps: Deps, box: SecretBox) {
    this.#deps = deps;
    this.#generations = new KeyGenerations(box, () => this.#addresses().trustDomain);
    this.published = new Published(deps, this.#generations);
  }

  /**
   * Creates the platform's own keys if there are none, and the next generation before the last one expires. Runs at
   * startup and daily.
   */
  async start(): Promise<void> {
    const { database, clock } = this.#deps;
    await database.write((transaction) => this.#generations.prepare(transaction, clock()));
  }

  async issue(transaction: Transaction, agent: Agent, key_id: string): Promise<IssuedIdentity> {
    const now = this.#deps.clock();
    const addresses = this.#addresses();
    const generation = await this.#signing(transaction, now);
    const made = await makeIdentity(agent, generation, { addresses, now });
    const issue_no = (await supersede(transaction, agent, now)) + 1;
    const jti = randomUUID();
    const row = { ...rowOf(made, agent, now), generation: generation.generation, passport_jti: jti };
    const did = addresses.did(agent.agent_id);
    // The passport contains the number of the row, so it is signed afterwards.
    const identity = await insertIdentity(transaction, { ...row, did, issue_no, key_id, passport_jws: '' });
    const statusIndex = identity.identity_no;
    const claims = passportClaims(agent, made, { addresses, now, jti, statusIndex });
    const { EdDSA, 'ML-DSA-65': mlDsa } = generation.signers;
    const jws = JSON.stringify(signPassport(claims, [EdDSA, mlDsa]));
    await changeIdentity(transaction, identity, { passport_jws: jws });
    return toIssued(made, { did, jti, jws, status_url: claims.status_url });
  }

  async suspendPassport(transaction: Transaction, agent: Agent): Promise<string | null> {
    const identity = await currentIdentity(transaction, agent.agent_no);
    if (identity === null || identity.passport_status !== 'valid') return null;
    await changePassport(transaction, identity, 'suspended', this.#deps.clock());
    return identity.passport_jti;
  }

  async signSecurityEvent(reader: Reader, event: SecurityEvent & { agentId: string }): Promise<string> {
    const now = this.#deps.clock();
    const addresses = this.#addresses();
    const from = { issuer: addresses.base, did: addresses.did(event.agentId), now };
    const { signers } = await this.#generations.signing(reader, now);
    return signSecurityEventToken(event, from, signers.EdDSA);
  }

  async #signing(transaction: Transaction, now: Date): Promise<KeyGeneration> {
    await this.#generations.prepare(transaction, now);
    return this.#generations.signing(transaction, now);
  }

  #addresses(): IdentityAddresses {
    return new IdentityAddresses(this.#deps.publicUrl());
  }
}

/** Supersedes the previous identity. @returns its number; 0 if there is none. */
async function supersede(transaction: Transaction, agent: Agent, now: Date): Promise<number> {
  const identity = await currentIdentity(transaction, agent.agent_no);
  if (identity === null) return 0;
  await changePassport(transaction, identity, 'superseded', now);
  await revokeCertificates(transaction, identity, { reason: 'superseded', now });
  return identity.issue_no;
}

function rowOf({ publicKeys, certificates, notAfter }: MadeIdentity, agent: Agent, now: Date) {
  return {
    agent_no: agent.agent_no,
    public_keys: JSON.stringify(publicKeys),
    ecdsa_serial: certificates.ecdsa.serial,
    ml_dsa_65_serial: certificates.ml_dsa_65.serial,
    ecdsa_pem: certificates.ecdsa.pem,
    ml_dsa_65_pem: certificates.ml_dsa_65.pem,
    not_after: notAfter.toISOString(),
    composition: agent.composition,
    passport_status: 'valid' as const,
    status_changed_at: now.toISOString(),
    issued_at: now.toISOString(),
  };
}

const insertIdentity = rowInserter(AGENT_TABLES, 'agent_identities');

function toIssued(
  { publicKeys, privateKeys, certificates: { ecdsa, ml_dsa_65 }, notAfter }: MadeIdentity,
  { did, ...passport }: { did: string } & IssuedIdentity['passport'],
): IssuedIdentity {
  return {
    quantum_identity: { did, public_keys: { ...publicKeys }, private_keys_once: { ...privateKeys } },
    certificate: {
      pem: ecdsa.pem,
      chain_pem: ecdsa.chainPem,
      serial: ecdsa.serial,
      not_after: notAfter.toISOString(),
      pq: { pem: ml_dsa_65.pem, chain_pem: ml_dsa_65.chainPem, serial: ml_dsa_65.serial },
    },
    passport,
  };
}

/** Parts of an agent that its identity states. */
type IdentitySubject = Pick<Agent, 'agent_id' | 'agent_type' | 'composition'>;

/** Keys and certificates of an agent, before it has a passport. */
interface MadeIdentity {
  notBefore: Date;
  notAfter: Date;
  publicKeys: AgentPublicKeys;
  privateKeys: AgentPrivateKeys;
  certificates: Readonly<Record<CertificateKind, IssuedCertificate>>;
}

/**
 * Makes new keys, and a certificate of each kind. @param generation of the platform's keys, which must not expire
 * before the certificates.
 */
async function makeIdentity(
  { agent_id, composition }: IdentitySubject,
  generation: KeyGeneration,
  { addresses, now }: { addresses: IdentityAddresses; now: Date },
): Promise<MadeIdentity> {
  const pairs = {
    ed25519: await newKeyPair('ed25519'),
    ml_dsa_65: await newKeyPair('ml_dsa_65'),
    ecdsa_p256: await newKeyPair('ecdsa_p256'),
  };
  const notBefore = wholeSecond(new Date(now.getTime() - CLOCK_SKEW_MS));
  const notAfter = wholeSecond(new Date(now.getTime() + LEAF_DAYS * 86_400_000));
  const certify = (kind: CertificateKind, key: AgentKeyName) => {
    const revocationListUrl = addresses.revocationList({ kind, generation: generation.generation });
    const spiffeId = addresses.spiffeId(agent_id);
    return issueAgentCertificate(
      { publicKey: pairs[key].publicKey, notBefore, notAfter },
      { agentId: agent_id, spiffeId, composition, revocationListUrl },
      generation.certificates[kind],
    );
  };
  const { ed25519, ml_dsa_65, ecdsa_p256 } = pairs;
  return {
    notBefore,
    notAfter,
    publicKeys: {
      ed25519: ed25519.publicJwk,
      ml_dsa_65: ml_dsa_65.publicJwk,
      ecdsa_p256: ecdsa_p256.publicJwk,
    },
    privateKeys: {
      ed25519: toPkcs8Pem(ed25519.privateKey),
      ml_dsa_65: toPkcs8Pem(ml_dsa_65.privateKey),
      ecdsa_p256: toPkcs8Pem(ecdsa_p256.privateKey),
    },
    certificates: { ecdsa: await certify('ecdsa', 'ecdsa_p256'), ml_dsa_65: await certify('ml_dsa_65', 'ml_dsa_65') },
  };
}

/** @param statusIndex its index in the status list. */
function passportClaims(
  { agent_id, agent_type, composition }: IdentitySubject,
  { notBefore, notAfter, publicKeys, certificates }: MadeIdentity,
  { addresses, now, jti, statusIndex }: { addresses: IdentityAddresses; now: Date; jti: string; statusIndex: number },
): PassportClaims {
  const { ed25519, ml_dsa_65 } = publicKeys;
  return {
    format: PASSPORT_FORMAT,
    iss: addresses.base,
    sub: addresses.did(agent_id),
    jti,
    iat: seconds(now),
    nbf: seconds(notBefore),
    exp: seconds(notAfter),
    agent_id,
    agent_type,
    spiffe_id: addresses.spiffeId(agent_id),
    composition_sha256: composition,
    cnf: { jkt: ed25519.kid },
    agent_keys: { ed25519: ed25519.kid, ml_dsa_65: ml_dsa_65.kid },
    certificates: { ecdsa: certificateClaim(certificates.ecdsa), ml_dsa_65: certificateClaim(certificates.ml_dsa_65) },
    status: { status_list: { idx: statusIndex, uri: addresses.ofPlatform('status-list') } },
    status_url: addresses.verification(agent_id),
  };
}

const seconds = (time: Date) => Math.floor(time.getTime() / 1000);

function certificateClaim({ pem, serial }: IssuedCertificate): CertificateClaim {
  const fingerprint = new X509Certificate(pem).fingerprint256.replaceAll(':', '');
  return { serial, 'x5t#S256': Buffer.from(fingerprint, 'hex').toString('base64url') };
}
