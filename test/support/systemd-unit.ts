import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

/** Settings of a unit that decide when its program starts. */
export interface Unit {
  command: readonly string[];
  environment: Readonly<Record<string, string>>;
  restartMs: number;
  /** Exit codes after which the program is not started again. */
  finalCodes: ReadonlySet<number>;
  /** Number of starts within a time after which the unit fails. */
  limit: { starts: number; withinMs: number };
}

/** Settings that decide nothing about starts. */
const OTHERS =
  /^(Description|Wants|After|User|TimeoutStopSec|StateDirectory|StateDirectoryMode|UMask|Protect\w+|Private\w+|NoNewPrivileges|CapabilityBoundingSet|LockPersonality|Restrict(AddressFamilies|Namespaces|Realtime|SUIDSGID)|SystemCallArchitectures|LimitNOFILE|WantedBy)$/;
const STARTS = [
  'Type',
  'Environment',
  'ExecStart',
  'Restart',
  'RestartSec',
  'RestartPreventExitStatus',
  'StartLimitIntervalSec',
  'StartLimitBurst',
];

/**
 * Reads a unit as systemd does: systemd.syntax(7), systemd.service(5), systemd.unit(5).
 * @throws Error for a setting or a value that this reader does not know, because it may decide about starts.
 */
export function readUnit(text: string): Unit {
  const settings = settingsOf(text);
  const of = (name: string, pattern: RegExp) => {
    const value = settings.get(name) ?? '';
    if (!pattern.test(value)) throw new Error(`${name}=${value} is not known here`);
    return value;
  };
  of('Type', /^exec$/);
  of('Restart', /^on-failure$/);
  const [name = '', value = ''] = of('Environment', /^\w+=[\w=-]+$/).split(/=(.*)/);
  return {
    command: of('ExecStart', /^[\w@+:,./ -]+$/).split(' '),
    environment: { [name]: value },
    restartMs: toMs(of('RestartSec', DURATION)),
    finalCodes: new Set(
      of('RestartPreventExitStatus', /^\d+( \d+)*$/)
        .split(' ')
        .map(Number),
    ),
    limit: {
      starts: Number(of('StartLimitBurst', /^\d+$/)),
      withinMs: toMs(of('StartLimitIntervalSec', DURATION)),
    },
  };
}

function settingsOf(text: string): Map<string, string> {
  const settings = new Map<string, string>();
  for (const line of text.split('\n').filter((each) => !/^(#.*|\[(Unit|Service|Install)\])?$/.test(each))) {
    const [, name = '', value = ''] = /^(\w+)=(.*[^\\]|)$/.exec(line) ?? [];
    if (settings.has(name) || !(OTHERS.test(name) || STARTS.includes(name)))
      throw new Error(`${line} is not known here`);
    settings.set(name, value);
  }
  return settings;
}

const DURATION = /^\d+(s|min)$/;

function toMs(duration: string): number {
  return Number.parseInt(duration, 10) * (duration.endsWith('min') ? 60_000 : 1000);
}

/** Ends that `Restart=on-failure` counts as clean: systemd.service(5), Restart. */
const CLEAN: readonly (number | NodeJS.Signals | null)[] = [0, 'SIGHUP', 'SIGINT', 'SIGTERM', 'SIGPIPE'];

/** Starts the program of a unit when systemd would. */
export class Supervisor {
  readonly #unit: Unit;
  readonly #speed: number;
  readonly #environment: NodeJS.ProcessEnv;
  readonly #starts: number[] = [];
  #isStopped = false;
  /** Program that runs, or ran last. */
  child: ChildProcess | null = null;
  /** Exit code or signal of each end. */
  readonly ends: (number | NodeJS.Signals | null)[] = [];
  /** State of the unit, as `systemctl is-active` prints it. */
  state: 'activating' | 'active' | 'inactive' | 'failed' = 'inactive';

  /**
   * @param speed factor by which the waits of the unit are shorter.
   * @param environment variables in addition to the unit's.
   */
  constructor(unit: Unit, speed: number, environment: NodeJS.ProcessEnv = {}) {
    this.#unit = unit;
    this.#speed = speed;
    this.#environment = environment;
  }

  /** Starts the program, and again after each failure. Resolves once it is not to be started again. */
  async run(): Promise<void> {
    const { command, environment, restartMs, finalCodes } = this.#unit;
    const [program = '', ...words] = command;
    const { PATH } = process.env;
    while (this.#mayStart()) {
      const env = { PATH, ...environment, ...this.#environment };
      this.child = spawn(program, words, { env, stdio: 'ignore' });
      this.state = 'active';
      const [code, signal] = await once(this.child, 'exit');
      this.ends.push(code ?? signal);
      if (CLEAN.includes(code ?? signal) || this.#isStopped) {
        this.state = 'inactive';
        return;
      }
      if (finalCodes.has(code)) break;
      this.state = 'activating';
      await sleep(restartMs / this.#speed);
    }
    this.state = 'failed';
  }

  /** Ends the program for good. */
  stop(): void {
    this.#isStopped = true;
    this.child?.kill('SIGKILL');
  }

  /** Counts a start, if the limit allows it. */
  #mayStart(): boolean {
    const { starts, withinMs } = this.#unit.limit;
    const now = performance.now();
    const recent = this.#starts.filter((start) => now - start < withinMs / this.#speed);
    this.#starts.push(now);
    return recent.length < starts;
  }
}
