import { setTimeout as sleep } from 'node:timers/promises';
import { type PostgresServer, programsOfDebian, startPostgres, startStandby } from './postgres.ts';
import { startTcpRelay, type TcpRelay } from './tcp-relay.ts';

const SETTINGS = { programs: programsOfDebian() };
const SYNCHRONOUS = "ALTER SYSTEM SET synchronous_standby_names = '*'";

/** A primary and a standby behind one address, as a managed service has it. Each commit waits for the standby. */
export class ReplicatedPostgres {
  #primary: PostgresServer;
  #standby: PostgresServer | null = null;
  readonly #relay: TcpRelay;
  #databases = 0;

  static async start(): Promise<ReplicatedPostgres> {
    const primary = await startPostgres({ ...SETTINGS, durable: true });
    const replicated = new ReplicatedPostgres(primary, await startTcpRelay(primary.port));
    await replicated.#addStandby();
    return replicated;
  }

  private constructor(primary: PostgresServer, relay: TcpRelay) {
    this.#primary = primary;
    this.#relay = relay;
  }

  /** Creates an empty database, and returns its address, which leads to the primary. */
  async createDatabase(): Promise<string> {
    const { query, urlOf } = this.#primary;
    const name = `replicated_${++this.#databases}`;
    await query(urlOf('postgres'), `CREATE DATABASE ${name}`);
    const url = new URL(urlOf(name));
    url.port = `${this.#relay.port}`;
    return url.href;
  }

  /**
   * Ends the primary, makes the standby the primary, and adds a new standby.
   * @param how `silent`: no connection to the primary is closed, as when its machine fails.
   */
  async failOver(how: 'closing' | 'silent'): Promise<void> {
    if (how === 'silent') this.#relay.freeze();
    await this.loseThePrimary();
    await this.promote();
  }

  /** Ends the primary, and leads the address to the standby, which accepts no writes yet. */
  async loseThePrimary(): Promise<void> {
    await this.#primary.kill('SIGQUIT');
    this.#relay.target = this.#next().port;
  }

  async promote(): Promise<void> {
    const next = this.#next();
    await next.query(next.urlOf('postgres'), 'SELECT pg_promote()');
    await this.#primary.stop();
    this.#primary = next;
    this.#standby = null;
    await this.#addStandby();
  }

  async stop(): Promise<void> {
    this.#relay.close();
    for (const server of [this.#primary, this.#standby]) await server?.stop();
  }

  #next(): PostgresServer {
    if (this.#standby === null) throw new Error('there is no standby');
    return this.#standby;
  }

  async #addStandby(): Promise<void> {
    const { query, urlOf } = this.#primary;
    this.#standby = await startStandby(this.#primary, SETTINGS);
    await query(urlOf('postgres'), SYNCHRONOUS);
    await query(urlOf('postgres'), 'SELECT pg_reload_conf()');
    const synchronous = "SELECT FROM pg_stat_replication WHERE sync_state = 'sync'";
    while ((await query(urlOf('postgres'), synchronous)).rows.length === 0) await sleep(20);
  }
}
