import type { Archive, Locks } from '../../src/exporter/archive/archive.ts';
import { openMemoryArchive } from '../../src/exporter/archive/memory.ts';
import type { Inspected, ObjectLock } from '../../src/verifier/archive/archive.ts';

/** Lock state that a store shows; `hidden` if this identity may not see it. */
export interface Shown {
  lock: Inspected['lock'];
  held: boolean | 'hidden';
}

/** An archive in memory that records locks and enforces none. */
export class LockingArchive {
  readonly table = new Map<string, Shown>();
  readonly archive: Archive;
  /** Lock of new objects. */
  initially: ObjectLock | null;
  /** Called before each change. */
  onChange: (key: string) => void = () => {};

  constructor(initially: ObjectLock | null) {
    this.initially = initially;
    const memory = openMemoryArchive();
    const put: Archive['put'] = async (key, source, expected) => {
      const result = await memory.put(key, source, expected);
      if (result.state === 'created') this.table.set(key, { lock: this.initially, held: false });
      return result;
    };
    this.archive = new Proxy(memory, {
      get: (target, name) => {
        if (name === 'locks') return this.#locks();
        if (name === 'put') return put;
        const value = Reflect.get(target, name);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  }

  #locks(): Locks {
    const shown = (key: string) => this.table.get(key);
    return {
      inspect: async (key) => {
        const found = shown(key);
        return found === undefined ? null : { bytes: 0, lock: found.lock, legal_hold: found.held === true };
      },
      isHeld: async (key) => {
        const held = shown(key)?.held ?? false;
        return held === 'hidden' ? null : held;
      },
      hold: async (key, on) => {
        this.onChange(key);
        this.table.set(key, { lock: shown(key)?.lock ?? null, held: on });
      },
      extend: async (key, until, mode) => {
        this.onChange(key);
        const { lock = null, held = false } = shown(key) ?? {};
        if (lock === 'hidden') throw new Error('hidden');
        const isLonger = lock === null || Date.parse(lock.retain_until) < until.getTime();
        const after = isLonger ? { mode: lock?.mode ?? mode, retain_until: until.toISOString() } : lock;
        this.table.set(key, { lock: after, held });
        return { before: lock, after };
      },
    };
  }
}
