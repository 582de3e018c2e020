import { byCommand } from '../../../../src/platform/accounts/administration.ts';
import type { Database } from '../../../../src/platform/database/database.ts';
import { PACKAGES_STREAM } from '../../../../src/platform/endpoints/packages/entries.ts';
import {
  type ImportDeps,
  type ImportOutcome,
  importPackages,
} from '../../../../src/platform/endpoints/packages/importing.ts';
import { type ChangedFile, explainingPackages } from '../../../../src/platform/endpoints/packages/known-files.ts';
import { World } from '../../world.ts';
import { hexSha256 } from './deb-files.ts';

/** Imports packages into a database, and reads the results. */
export class PackagePlace extends World {
  readonly #keyring: string;
  readonly #deps: ImportDeps;

  constructor(database: Database, keyring: string) {
    super(database);
    const { clock, log } = this;
    this.#keyring = keyring;
    this.#deps = { database, clock, log, actor: byCommand('packages import') };
  }

  import(...paths: readonly string[]): Promise<ImportOutcome> {
    return importPackages(this.#deps, { paths, keyring: this.#keyring });
  }

  /** Returns name and version of the package that explains a new file of root; null for none. */
  async explanationOf(path: string, content: string): Promise<string | null> {
    const observed = { sha256: hexSha256(content), mode: 0o755, uid: 0, gid: 0 };
    const changed: ChangedFile = { path, observed, expected: null };
    const [known] = await explainingPackages(this.database, [changed]);
    return known ? `${known.name} ${known.version}` : null;
  }

  /** Returns the stream's entries, oldest first. */
  async entries() {
    return (await this.log.newest(this.database, PACKAGES_STREAM, { limit: 1000 })).reverse();
  }
}
