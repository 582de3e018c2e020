import type { Transaction } from '../../database/database.ts';
import { DomainError } from '../../errors.ts';
import type { Actor, Principal } from '../../http/principal.ts';
import type { SecretBox } from '../../secrets.ts';
import type { VaultTraps } from '../../traps/api.ts';
import { type Agent, allowancesOf, findAgent, lockAgent, sortedNames } from '../agent-rows.ts';
import type { AgentServiceDeps, TrustPort } from '../deps.ts';
import { type AgentEntry, boundToAgent, refuseOthers, speakerOf, writeEntries } from '../entries.ts';
import type { NewDecoy, TakenSecret, WireDecoy, WireSecret, WireVault } from '../wire/vault.ts';
import {
  ACCESSES,
  type AccessDone,
  type Accessed,
  type AccessKind,
  giveSecret,
  putSecret,
  refusalOf,
  removeSecret,
  secretToWire,
} from './accesses.ts';
import {
  decoyEntry,
  decoyOfSecret,
  decoyOfTrap,
  decoysOf,
  decoyToolsOf,
  decoyToWire,
  findDecoy,
  putDecoy,
  takeDecoyOut,
  trapFor,
} from './decoys.ts';
import { type DecoyTrip, tripDecoys, UNKNOWN_ASKER, type VaultAsker } from './tripping.ts';
import {
  findVault,
  leasesOf,
  makeVault,
  needVault,
  secretNamed,
  secretsOfAgent,
  VAULT_ENCRYPTION,
} from './vault-rows.ts';

/** Access to a secret by a caller. */
interface Access {
  principal: Pick<Principal, 'kind' | 'id' | 'boundTo'>;
  agentId: string;
  name: string;
  asker: VaultAsker;
}

/** Vaults of agents, and the decoys in them. */
export class Vaults {
  readonly #deps: AgentServiceDeps;
  readonly #box: SecretBox;
  readonly #trust: TrustPort;
  readonly #traps: VaultTraps;

  /** @param box seals the keys of vaults. */
  constructor(deps: AgentServiceDeps, box: SecretBox, trust: TrustPort, traps: VaultTraps) {
    this.#deps = deps;
    this.#box = box;
    this.#trust = trust;
    this.#traps = traps;
  }

  /** Returns the vault of an agent, created if there is none. */
  async open(transaction: Transaction, agent: Agent) {
    const { vaultId } =
      (await findVault(transaction, this.#box, agent)) ??
      (await makeVault(transaction, this.#box, agent, this.#deps.clock()));
    return { vault_id: vaultId, status: 'open' as const, encryption: VAULT_ENCRYPTION };
  }

  /** @throws DomainError `not_found`, `conflict`, `forbidden`, `agent_suspended`, `agent_revoked`. */
  get(principal: Access['principal'], agentId: string, name: string, asker = UNKNOWN_ASKER): Promise<TakenSecret> {
    return this.#access('get', { principal, agentId, name, asker }, giveSecret);
  }

  /** @throws DomainError as `get`. */
  put(
    principal: Access['principal'],
    agentId: string,
    { name, value }: { name: string; value: string },
    asker = UNKNOWN_ASKER,
  ): Promise<WireSecret> {
    const access = { principal, agentId, name, asker };
    return this.#access('put', access, (transaction, accessed) => putSecret(transaction, accessed, value));
  }

  /** @throws DomainError as `get`. */
  remove(principal: Access['principal'], agentId: string, name: string, asker = UNKNOWN_ASKER): Promise<WireSecret> {
    return this.#access('remove', { principal, agentId, name, asker }, removeSecret);
  }

  /** Returns the agent's own view, in which decoys look like any other secret. @throws DomainError as `get`. */
  async contents(principal: Access['principal'], agentId: string): Promise<WireVault> {
    const { database, log } = this.#deps;
    refuseOthers(principal, agentId);
    const outcome = await database.write(async (transaction) => {
      const agent = await lockAgent(transaction, agentId);
      const { vaultId } = await needVault(transaction, this.#box, agent);
      const entry = entriesOf({ agentId, actor: speakerOf(principal), of: ['vault', vaultId] });
      const refused = refusalOf(agent, 'list', principal.boundTo === boundToAgent(agentId));
      if (refused !== null) {
        await writeEntries(log, transaction, [entry('vault.refused', { asked: 'list', because: refused.code })]);
        return { refused };
      }
      const secrets = (await secretsOfAgent(transaction, agent)).map(secretToWire);
      const decoys = (await decoyToolsOf(transaction, [agent.agent_no])).get(agent.agent_no)?.keys() ?? [];
      const tools = sortedNames([...allowancesOf(agent).allowed_tools, ...decoys]);
      await writeEntries(log, transaction, [entry('vault.listed', { secrets: secrets.length, tools: tools.length })]);
      return { vault_id: vaultId, status: 'open' as const, encryption: VAULT_ENCRYPTION, secrets, tools };
    });
    if ('refused' in outcome) throw outcome.refused;
    return outcome;
  }

  /** Returns the view for people, with decoys apart and without values. @throws DomainError `not_found`. */
  async list(agentId: string) {
    const { database, clock } = this.#deps;
    const agent = await findAgent(database, agentId);
    const vault = await findVault(database, this.#box, agent);
    const decoys = await decoysOf(database, agent);
    const { running, lastTaken } = await leasesOf(database, agent, clock());
    const isReal = ({ secret_no }: { secret_no: number }) => decoys.every((decoy) => decoy.secret_no !== secret_no);
    const secrets = (await secretsOfAgent(database, agent)).filter(isReal);
    return {
      vault_id: vault?.vaultId ?? null,
      status: vault === null ? ('none' as const) : ('open' as const),
      encryption: vault === null ? null : VAULT_ENCRYPTION,
      secrets: secrets.map(({ put_by, ...secret }) => ({
        ...secretToWire(secret),
        put_by,
        last_taken_at: lastTaken.get(secret.name) ?? null,
      })),
      decoys: decoys.map((decoy) => decoyToWire(agent, decoy)),
      leases: running,
    };
  }

  /** @throws DomainError `not_found`, `conflict`; as `VaultTraps.prepareCredential`. */
  async addDecoy(actor: Actor, agentId: string, input: NewDecoy): Promise<WireDecoy> {
    const { database, clock, log } = this.#deps;
    const trap = await trapFor(this.#traps, input, await findAgent(database, agentId));
    return database.write(async (transaction) => {
      const agent = await lockAgent(transaction, agentId);
      const vault = await needVault(transaction, this.#box, agent);
      const decoy = await putDecoy(transaction, { agent, vault, trap }, { actor, input, now: clock() });
      await writeEntries(log, transaction, [decoyEntry('vault.decoy_made', agent, { actor, decoy })]);
      return decoyToWire(agent, decoy);
    });
  }

  /** Removes a decoy from the vault. Its trap remains. @throws DomainError `not_found`. */
  async removeDecoy(actor: Actor, agentId: string, decoyId: string): Promise<WireDecoy> {
    const { database, clock, log } = this.#deps;
    return database.write(async (transaction) => {
      const agent = await lockAgent(transaction, agentId);
      const decoy = await findDecoy(transaction, agent, decoyId);
      await takeDecoyOut(transaction, decoy, clock());
      await writeEntries(log, transaction, [decoyEntry('vault.decoy_removed', agent, { actor, decoy })]);
      return decoyToWire(agent, decoy);
    });
  }

  /** Records uses of decoys: see `tripDecoys`. The caller notes the effect on trust. */
  trip(transaction: Transaction, trips: readonly DecoyTrip[]): Promise<AgentEntry[]> {
    return tripDecoys(transaction, { traps: this.#traps, alerts: this.#deps.alerts }, trips);
  }

  /** Uses a decoy as its agent would. @throws Error with a readable message. */
  async useDecoy(credentialId: string, userAgent: string): Promise<void> {
    const { database, clock } = this.#deps;
    const { agent_id: agentId, decoy } = await decoyOfTrap(database, credentialId);
    const asker = { address: null, userAgent };
    if (decoy.sort === 'secret') {
      await this.get({ kind: 'key', id: 'trap-test' }, agentId, decoy.name, asker);
      return;
    }
    const at = clock().toISOString();
    const trip: DecoyTrip = { decoy, agentId, by: 'key:trap-test', use: 'called', at, eventId: null, asker };
    await database.write(async (transaction) => {
      await lockAgent(transaction, agentId);
      await this.trip(transaction, [trip]);
    });
  }

  /** Accesses a secret, with an entry that records the access or its refusal. */
  async #access<T>(kind: AccessKind, access: Access, work: Work<T>): Promise<T> {
    const { database, log } = this.#deps;
    const { principal, agentId, name, asker } = access;
    refuseOthers(principal, agentId);
    const by = speakerOf(principal);
    const entry = entriesOf({ agentId, actor: by, of: ['secret', name] });
    const outcome = await database.write(async (transaction) => {
      const agent = await lockAgent(transaction, agentId);
      const done = await this.#try(transaction, agent, { kind, access, work });
      if ('refused' in done) {
        await writeEntries(log, transaction, [entry('vault.refused', { asked: kind, because: done.refused.code })]);
        return done;
      }
      const { decoy, now } = done.accessed;
      const { action, use } = ACCESSES[kind];
      const trip = { agentId, by, use, at: now.toISOString(), eventId: null, asker };
      const tripped = decoy === undefined ? [] : await this.#tripOwn(transaction, { ...trip, decoy });
      await writeEntries(log, transaction, [entry(action, done.more), ...tripped]);
      return done;
    });
    if ('refused' in outcome) throw outcome.refused;
    return outcome.answer;
  }

  /** Tries the access; writes nothing if it is refused. */
  async #try<T>(
    transaction: Transaction,
    agent: Agent,
    { kind, access: { principal, agentId, name }, work }: { kind: AccessKind; access: Access; work: Work<T> },
  ): Promise<(AccessDone<T> & { accessed: Accessed }) | { refused: DomainError }> {
    const refused = refusalOf(agent, kind, principal.boundTo === boundToAgent(agentId));
    if (refused !== null) return { refused };
    try {
      const vault = await needVault(transaction, this.#box, agent);
      const secret = await secretNamed(transaction, agent, name);
      const decoy = secret && (await decoyOfSecret(transaction, secret));
      const now = this.#deps.clock();
      const accessed = { agent, vault, name, secret, decoy, by: speakerOf(principal), now };
      return { ...(await work(transaction, accessed)), accessed };
    } catch (error) {
      if (error instanceof DomainError) return { refused: error };
      throw error;
    }
  }

  /** Records the use of a decoy secret, which costs the agent trust. */
  async #tripOwn(transaction: Transaction, trip: DecoyTrip): Promise<AgentEntry[]> {
    const { name, sort: kind, decoy_id } = trip.decoy;
    const detail = { name, kind, use: trip.use, decoy_id };
    const { entries } = await this.#trust.note(transaction, trip.agentId, { rule: 'decoy_used', detail });
    return [...entries, ...(await this.trip(transaction, [trip]))];
  }
}

type Work<T> = (transaction: Transaction, accessed: Accessed) => Promise<AccessDone<T>>;

/** Returns a function that makes entries about one subject. */
function entriesOf(subject: Pick<AgentEntry, 'agentId' | 'actor' | 'of'>) {
  return (action: string, more: AgentEntry['more']): AgentEntry => ({ ...subject, action, more });
}
