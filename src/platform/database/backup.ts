import { closeSync, openSync } from 'node:fs';
import { backup, DatabaseSync } from 'node:sqlite';

const ALL_PAGES = 2 ** 31 - 1;

/** Copies a SQLite database as it is at one moment, while others write. @param to a file that is not there yet. */
export async function backupSqlite(from: string, to: string): Promise<void> {
  const database = new DatabaseSync(from, { readOnly: true });
  try {
    // The copy would be made for everybody to read.
    closeSync(openSync(to, 'wx', 0o600));
    // In one piece: what somebody writes between two pieces would have it begin anew.
    await backup(database, to, { rate: ALL_PAGES });
  } finally {
    database.close();
  }
}
