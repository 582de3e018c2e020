import { join } from 'node:path';

/** The paths in a data directory. */
export interface DataFolder {
  database: string;
  masterKey: string;
  authority: string;
  /** The decoys' own keys and certificates. */
  decoys: string;
}

export function dataFolder(directory: string): DataFolder {
  return {
    database: join(directory, 'platform.sqlite'),
    masterKey: join(directory, 'master.key'),
    authority: join(directory, 'authority'),
    decoys: join(directory, 'decoys'),
  };
}
