import { join } from 'node:path';

/** Paths in a data folder. */
export interface DataFolder {
  database: string;
  masterKey: string;
  authority: string;
  /** Folder of the decoys' own keys and certificates. */
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
