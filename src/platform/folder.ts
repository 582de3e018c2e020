import { join } from 'node:path';

/** Where things lie in a data directory. */
export interface DataFolder {
  database: string;
  masterKey: string;
  authority: string;
}

export function dataFolder(directory: string): DataFolder {
  return {
    database: join(directory, 'platform.sqlite'),
    masterKey: join(directory, 'master.key'),
    authority: join(directory, 'authority'),
  };
}
