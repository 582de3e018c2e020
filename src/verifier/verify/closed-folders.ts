import type { Unlisted } from '../archive/archive.ts';
import { runIdOf } from '../records/keys.ts';
import type { InScope } from './ledger.ts';
import { type ObjectFinding, toObjectFinding } from './object-finding.ts';

/** Folders of an archive that could not be listed: whether something lies in them is not known. */
export class ClosedFolders {
  readonly #why = new Map<string, string>();

  readonly note: Unlisted = (folder, why) => {
    this.#why.set(folder, why);
  };

  /** Those of runs in scope, and of no run. */
  findings(inScope: InScope): ObjectFinding[] {
    return [...this.#why]
      .filter(([folder]) => inScope(runIdOf(folder) ?? '') || runIdOf(folder) === null)
      .map(([folder, why]) =>
        toObjectFinding(
          'object/closed',
          folder,
          `is a folder that cannot be listed, so nothing in it was checked: ${why}`,
        ),
      );
  }

  /** Nobody knows that an object is missing which could lie in one of them. */
  withoutMissing(findings: readonly ObjectFinding[]): ObjectFinding[] {
    return findings.filter(({ code, key }) => !MISSING.test(code) || !this.holds(key));
  }

  /** Reports whether a key lies in one of them. */
  holds(key: string): boolean {
    return [...this.#why.keys()].some((folder) => key.startsWith(folder));
  }
}

const MISSING = /^(object\/missing|ledger\/missing-entry)$/;
