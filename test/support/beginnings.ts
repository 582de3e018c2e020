import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Folders that several tests start from. The first test creates the folder; later ones get a copy. */
export class Beginnings {
  readonly #folder = mkdtempSync(join(tmpdir(), 'beginnings-'));
  readonly #made = new Set<string>();

  /** Empties a folder and fills it with the result of `make`. @param name identifies the beginning. */
  async begin(folder: string, name: string, make: () => Promise<void>): Promise<void> {
    for (const file of readdirSync(folder)) rmSync(join(folder, file), { recursive: true });
    const kept = join(this.#folder, name);
    if (this.#made.has(name)) {
      cpSync(kept, folder, { recursive: true });
      return;
    }
    await make();
    cpSync(folder, kept, { recursive: true });
    this.#made.add(name);
  }
}
