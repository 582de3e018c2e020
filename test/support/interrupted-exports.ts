import { cpSync, mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { RunOptions } from './environment.ts';
import { EVIDENCE, nodeToEnd } from './process.ts';

const COPIED_AFTER = resolve(import.meta.dirname, 'copied-after.ts');

/** Archives that an export leaves if it is killed right after storing an object. */
export class InterruptedExports {
  readonly #copies: string;

  /** Exports once in a separate process, from an empty folder. @param words of the command. */
  static async make(words: readonly string[], { cwd, env }: RunOptions): Promise<InterruptedExports> {
    const copies = mkdtempSync(join(tmpdir(), 'interrupted-'));
    const watched = { COPIED_FROM: join(cwd, 'evidence-archive'), COPIED_TO: copies };
    const options = { cwd, env: { ...env, ...watched }, nodeFlags: ['--import', COPIED_AFTER] };
    const { code, stderr } = await nodeToEnd(EVIDENCE, words, options);
    if (code !== 0) throw new Error(`the export that was to be copied ended with ${code}: ${stderr}`);
    return new InterruptedExports(copies);
  }

  private constructor(copies: string) {
    this.#copies = copies;
  }

  /** @param ending pattern for the key of the last object. @param archive folder to fill. */
  leave(ending: RegExp, archive: string): void {
    const keys = readdirSync(this.#copies).map((name) => ({ name, key: decodeURIComponent(name) }));
    const found = keys.find(({ key }) => ending.test(key));
    if (found === undefined) throw new Error(`no object was stored that ends with ${ending.source}`);
    cpSync(join(this.#copies, found.name), archive, { recursive: true });
  }
}
