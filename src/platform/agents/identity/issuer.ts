import { randomUUID } from 'node:crypto';
import type { Reader, Transaction } from '../../database/database.ts';
import type { SecretBox } from '../../secrets.ts';
import type { Agent } from '../agent-rows.ts';
import type { AgentServiceDeps } from '../deps.ts';
import type { IssuedIdentity, IssuerPort } from '../ports.ts';
import type { AgentTables } from '../tables.ts';
import { IdentityAddresses } from './addresses.ts';
import { changePassport, currentIdentity, revokeCertificates } from './identity-rows.ts';
import type { KeyGeneration } from './key-generation.ts';
import { KeyGenerations } from './key-generations.ts';
import { type MadeIdentity, makeIdentity, passportClaims } from './made-identity.ts';
import { signPassport } from './passport.ts';
import { Published } from './published.ts';
import { type SecurityEvent, signSecurityEventToken } from './security-event.ts';

type Deps = Pick<AgentServiceDeps, 'database' | 'clock' | 'publicUrl'>;

/** Makes identities, and signs what the platform says of them. */
export class Issuer implements IssuerPort {
  readonly published: Published;
  readonly #deps: Deps;
  readonly #generations: KeyGenerations;

  /** @param box keeps the platform's own keys: `agents/authorities`. */
  constructor(deps: Deps, box: SecretBox) {
    this.#deps = deps;
    this.#generations = new KeyGenerations(box, () => this.#addresses().trustDomain);
    this.published = new Published(deps, this.#generations);
  }

  /** Makes the platform's own keys where it has none, and the next ones where those near their end: at the start, and daily. */
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
    const row = rowOf(made, { agent, generation, did: addresses.did(agent.agent_id), jti, now });
    const statusIndex = await insertIdentity(transaction, { ...row, issue_no, key_id });
    const claims = passportClaims(agent, made, { addresses, now, jti, statusIndex });
    const { EdDSA, 'ML-DSA-65': mlDsa } = generation.signers;
    const jws = JSON.stringify(signPassport(claims, [EdDSA, mlDsa]));
    const identities = transaction.tables<AgentTables>().updateTable('agent_identities');
    await identities.set({ passport_jws: jws }).where('identity_no', '=', statusIndex).execute();
    return toIssued(made, { did: claims.sub, jti, jws, status_url: claims.status_url });
  }

  async suspendPassport(transaction: Transaction, agent: Agent): Promise<string | null> {
    const identity = await currentIdentity(transaction, agent.agent_no);
    if (identity === null || identity.passport_status !== 'valid') return null;
    await changePassport(transaction, identity, 'suspended', this.#deps.clock());
    return identity.passport_jti;
  }

  /** @returns a Security Event Token in its compact form: `application/secevent+jwt` of RFC 8935. */
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

/** Ends what was issued before. @returns its number; 0 where there is none. */
async function supersede(transaction: Transaction, agent: Agent, now: Date): Promise<number> {
  const identity = await currentIdentity(transaction, agent.agent_no);
  if (identity === null) return 0;
  await changePassport(transaction, identity, 'superseded', now);
  await revokeCertificates(transaction, identity, { reason: 'superseded', now });
  return identity.issue_no;
}

function rowOf(
  { publicKeys, certificates, notAfter }: MadeIdentity,
  {
    agent,
    generation,
    did,
    jti,
    now,
  }: { agent: Agent; generation: KeyGeneration; did: string; jti: string; now: Date },
) {
  return {
    agent_no: agent.agent_no,
    generation: generation.generation,
    did,
    public_keys: JSON.stringify(publicKeys),
    ecdsa_serial: certificates.ecdsa.serial,
    ml_dsa_65_serial: certificates.ml_dsa_65.serial,
    ecdsa_pem: certificates.ecdsa.pem,
    ml_dsa_65_pem: certificates.ml_dsa_65.pem,
    not_after: notAfter.toISOString(),
    composition: agent.composition,
    passport_jti: jti,
    passport_status: 'valid' as const,
    status_changed_at: now.toISOString(),
    issued_at: now.toISOString(),
  };
}

/** @returns its number. The passport names it, so it is signed afterwards. */
async function insertIdentity(
  transaction: Transaction,
  row: ReturnType<typeof rowOf> & { issue_no: number; key_id: string },
): Promise<number> {
  const identities = transaction.tables<AgentTables>().insertInto('agent_identities');
  const insert = identities.values({ ...row, passport_jws: '' }).returning('identity_no');
  return (await insert.executeTakeFirstOrThrow()).identity_no;
}

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
