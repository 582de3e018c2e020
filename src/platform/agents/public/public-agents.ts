import { setTimeout as sleep } from 'node:timers/promises';
import type { PreparedQuery } from '../../database/database.ts';
import { DomainError } from '../../errors.ts';
import type { AgentServiceDeps } from '../deps.ts';
import type { CertificateKind } from '../identity/kinds.ts';
import type { Published } from '../identity/published.ts';
import type { AgentVerification } from '../wire/public.ts';
import { type StandingRow, standingQuery, toVerification } from './standing.ts';

/** Nobody is answered sooner: so much hides what an agent that is there takes longer than one that is not. */
const NO_SOONER_MS = 10;

/** Facts about agents that anybody may read, without a key. */
export class PublicAgents {
  readonly #clock: () => Date;
  readonly #find: PreparedQuery<StandingRow>;
  readonly #published: Published;

  constructor({ database, clock }: Pick<AgentServiceDeps, 'database' | 'clock'>, published: Published) {
    this.#clock = clock;
    this.#published = published;
    this.#find = database.prepare(standingQuery(database));
  }

  /** Reads the state of an agent from the database now. @throws DomainError `not_found`. */
  async verify(agentId: string): Promise<AgentVerification> {
    const [found] = await Promise.allSettled([this.#verify(agentId), sleep(NO_SOONER_MS)]);
    if (found.status === 'rejected') throw found.reason;
    return found.value;
  }

  /** A signed JWT, `application/statuslist+jwt`. */
  statusList(): Promise<string> {
    return this.#published.statusList();
  }

  /** In DER. @param file what stands before `.crl`. @throws DomainError `not_found`. */
  async revocationList(file: string): Promise<Buffer> {
    return there(await this.#published.revocationList(file), 'there is no list of revoked certificates of this name');
  }

  /** In PEM. */
  certificates(kind: CertificateKind): Promise<string> {
    return this.#published.certificates(kind);
  }

  jwks() {
    return this.#published.jwks();
  }

  /** @throws DomainError `not_found`. */
  async didDocument(agentId: string) {
    return there(await this.#published.didDocument(agentId), NOBODY);
  }

  /** @throws DomainError `not_found`. */
  async card(agentId: string) {
    return there(await this.#published.card(agentId), NOBODY);
  }

  async #verify(agentId: string): Promise<AgentVerification> {
    return toVerification(there(await this.#find(agentId), 'there is no agent of this id'), this.#clock());
  }
}

const NOBODY = 'there is no agent of this id that has an identity';

function there<T>(found: T | null | undefined, message: string): T {
  if (found === null || found === undefined) throw new DomainError('not_found', message);
  return found;
}
