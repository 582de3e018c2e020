import { setTimeout as sleep } from 'node:timers/promises';
import { sha256 } from '../../../core/digest.ts';
import type { PreparedQuery } from '../../database/database.ts';
import { there } from '../../errors.ts';
import type { Agent } from '../agent-rows.ts';
import type { AgentServiceDeps } from '../deps.ts';
import type { CertificateKind } from '../enums.ts';
import { type StandingRow, standingQuery, toVerification } from '../public/standing.ts';
import type { AgentTables } from '../tables.ts';
import type { AgentVerification } from '../wire/agents.ts';
import { IdentityAddresses, toRevocationListName } from './addresses.ts';
import { type AgentCard, didDocument, signAgentCard } from './documents.ts';
import type { AgentPublicKeys, PublicJwk } from './identity-rows.ts';
import { type AgentIdentity, currentIdentity, passportStatuses, revocationsOf } from './identity-rows.ts';
import type { KeyGenerations } from './key-generations.ts';
import { issueRevocationList } from './revocation-list.ts';
import { LIST_SECONDS, signStatusList } from './tokens.ts';

type Deps = Pick<AgentServiceDeps, 'database' | 'clock' | 'publicUrl'>;

/** Minimum duration of an answer, so that it does not reveal whether the agent exists. */
const NO_SOONER_MS = 10;

/** Age at which an unchanged list is signed again. */
const KEPT_MS = (LIST_SECONDS * 1000) / 24;

/**
 * Facts and documents with which anyone can verify agents, without a key. Each is read on demand; a list is signed
 * again when its content changes.
 */
export class Published {
  readonly #lists = new Kept<Buffer>(KEPT_MS);
  readonly #statusLists = new Kept<string>(KEPT_MS);
  readonly #deps: Deps;
  readonly #generations: KeyGenerations;
  readonly #standing: PreparedQuery<StandingRow>;

  constructor(deps: Deps, generations: KeyGenerations) {
    this.#deps = deps;
    this.#generations = generations;
    this.#standing = deps.database.prepare(standingQuery(deps.database));
  }

  /** Reads the current state of an agent from the database. @throws DomainError `not_found`. */
  async verify(agentId: string): Promise<AgentVerification> {
    const [found] = await Promise.allSettled([this.#verify(agentId), sleep(NO_SOONER_MS)]);
    if (found.status === 'rejected') throw found.reason;
    return found.value;
  }

  async #verify(agentId: string): Promise<AgentVerification> {
    return toVerification(there(await this.#standing(agentId), 'no agent has this ID'), this.#deps.clock());
  }

  addresses(): IdentityAddresses {
    return new IdentityAddresses(this.#deps.publicUrl());
  }

  /** Returns the revocation list of a file `FILE.crl`, in DER. @throws DomainError `not_found`. */
  async revocationList(file: string): Promise<Buffer> {
    const { database, clock } = this.#deps;
    const now = clock();
    const name = there(toRevocationListName(file), NO_LIST);
    const generations = await this.#generations.inForce(database, now);
    const found = generations.find(({ generation }) => generation === name.generation);
    const signing = there(found, NO_LIST);
    const revoked = await revocationsOf(database, name);
    // Uses milliseconds as the number, so that it grows from list to list, in any process.
    const terms = { revoked, number: BigInt(now.getTime()), now, seconds: LIST_SECONDS };
    return this.#lists.of(file, revoked, now, () => issueRevocationList(signing.certificates[name.kind], terms));
  }

  /** Returns the status list of all passports, as a signed JWT. */
  async statusList(): Promise<string> {
    const { database, clock } = this.#deps;
    const now = clock();
    const { generation, signers } = await this.#generations.signing(database, now);
    const url = this.addresses().ofPlatform('status-list');
    const statuses = await passportStatuses(database);
    const content = [url, generation, [...statuses.others], statuses.length];
    return this.#statusLists.of('', content, now, async () => signStatusList({ url, ...statuses, now }, signers.EdDSA));
  }

  /** Returns the public keys that verify passports, lists and messages. */
  async jwks(): Promise<{ keys: PublicJwk[] }> {
    const generations = await this.#generations.inForce(this.#deps.database, this.#deps.clock());
    const keys = generations.flatMap(({ signers }) => Object.values(signers).map(({ publicJwk }) => publicJwk));
    return { keys };
  }

  /** Returns the certificates that sign agents' certificates of a kind, in PEM, newest first. */
  async certificates(kind: CertificateKind): Promise<string> {
    const generations = await this.#generations.inForce(this.#deps.database, this.#deps.clock());
    return generations
      .reverse()
      .map(({ certificates }) => certificates[kind].pem)
      .join('');
  }

  /** @throws DomainError `not_found` if the agent does not exist or was never onboarded. */
  async didDocument(agentId: string) {
    const { agent, identity } = await this.#find(agentId);
    const keys = agent.state === 'revoked' ? null : (JSON.parse(identity.public_keys) as AgentPublicKeys);
    return didDocument(agentId, keys, this.addresses());
  }

  /** @throws DomainError `not_found`, also for a revoked agent, for which no one vouches. */
  async card(agentId: string): Promise<AgentCard> {
    const { agent } = await this.#find(agentId);
    const subject = there(agent.state === 'revoked' ? null : agent, NOBODY);
    const { signers } = await this.#generations.signing(this.#deps.database, this.#deps.clock());
    return signAgentCard(subject, this.addresses(), [signers.EdDSA, signers['ML-DSA-65']]);
  }

  /** @throws DomainError `not_found`. */
  async #find(agentId: string): Promise<{ agent: Agent; identity: AgentIdentity }> {
    const { database } = this.#deps;
    const agents = database.tables<AgentTables>().selectFrom('agents').selectAll();
    const agent = there(await agents.where('agent_id', '=', agentId).executeTakeFirst(), NOBODY);
    return { agent, identity: there(await currentIdentity(database, agent.agent_no), NOBODY) };
  }
}

const NO_LIST = 'no revocation list has this name';
const NOBODY = 'no agent with this ID has an identity';

/** Cache of signed documents. A document is reused while its content is unchanged and it is not too old. */
class Kept<T> {
  readonly #kept = new Map<string, { mark: string; signedAt: number; signed: Promise<T> }>();
  readonly #longestMs: number;

  constructor(longestMs: number) {
    this.#longestMs = longestMs;
  }

  /** @param content JSON value from which the signed document is made. */
  of(name: string, content: unknown, now: Date, sign: () => Promise<T>): Promise<T> {
    const mark = sha256(JSON.stringify(content));
    const known = this.#kept.get(name);
    const age = now.getTime() - (known?.signedAt ?? 0);
    if (known?.mark === mark && age >= 0 && age < this.#longestMs) return known.signed;
    const signed = sign();
    const kept = { mark, signedAt: now.getTime(), signed };
    this.#kept.set(name, kept);
    signed.catch(() => {
      if (this.#kept.get(name) === kept) this.#kept.delete(name);
    });
    return signed;
  }
}
