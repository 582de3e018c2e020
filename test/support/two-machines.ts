import { run } from './process.ts';
import { startTcpRelay, type TcpRelay } from './tcp-relay.ts';

/** A machine on its own network to this one: a Linux network namespace. */
export interface Machine {
  /** Beginning of a command line that runs on the machine. */
  words: readonly [string, ...string[]];
  /** Stops and starts the machine's network. */
  network(state: 'up' | 'down'): Promise<unknown>;
}

/** Address of this machine for all others. */
export const HOST = '10.203.0.1';

/** Machines of a test, with the ports that they can reach here. */
export class Machines {
  readonly #tag: string;
  readonly #names: string[] = [];
  readonly #relays: TcpRelay[] = [];

  /** @param tag part of their names, at most five letters. */
  constructor(tag: string) {
    this.#tag = tag;
  }

  async add(): Promise<Machine> {
    const number = this.#names.length + 1;
    const name = `${this.#tag}${number}`;
    if (number === 1) await run('ip', ['addr', 'add', `${HOST}/32`, 'dev', 'lo']);
    const [here, there] = [`10.203.${number}.1`, `10.203.${number}.2`];
    await run('ip', ['netns', 'add', name]);
    this.#names.push(name);
    await run('ip', ['link', 'add', `${name}h`, 'type', 'veth', 'peer', 'name', `${name}g`, 'netns', name]);
    await run('ip', ['addr', 'add', `${here}/30`, 'dev', `${name}h`]);
    await run('ip', ['link', 'set', `${name}h`, 'up']);
    const inside = (...words: string[]) => run('ip', ['-n', name, ...words]);
    await inside('addr', 'add', `${there}/30`, 'dev', `${name}g`);
    await inside('link', 'set', `${name}g`, 'up');
    await inside('link', 'set', 'lo', 'up');
    const network = async (state: 'up' | 'down') => {
      await run('ip', ['link', 'set', `${name}h`, state]);
      if (state === 'up') await inside('route', 'replace', 'default', 'via', here);
    };
    await network('up');
    return { words: ['ip', 'netns', 'exec', name], network };
  }

  /** Opens a port of this machine to them, under the same number. */
  async open(port: number): Promise<void> {
    this.#relays.push(await startTcpRelay(port, { port, host: HOST }));
  }

  async close(): Promise<void> {
    for (const relay of this.#relays) relay.close();
    for (const name of this.#names) {
      // A process that is still ending there would keep the link for a while.
      await run('ip', ['link', 'del', `${name}h`]);
      await run('ip', ['netns', 'del', name]);
    }
    if (this.#names.length > 0) await run('ip', ['addr', 'del', `${HOST}/32`, 'dev', 'lo']);
  }
}
