import { openParts, type Parts } from '../../../../src/platform/parts.ts';
import type { Service, startService } from '../../service.ts';
import { unlock } from './editing.ts';
import { editedTable, TABLE_NAMES } from './expected.ts';
import { fillTables } from './filled.ts';

/** A platform with rows in every table, and nothing that refuses edits. */
export interface EditedPlace {
  service: Service;
  parts: Parts;
  close(): Promise<void>;
}

export async function openEdited(start: typeof startService): Promise<EditedPlace> {
  const service = await start();
  const { dataDir, postgresUrl } = service;
  const parts = await openParts({ dataDir, postgresUrl });
  await fillTables(service, parts);
  await unlock(parts, TABLE_NAMES.map(editedTable));
  return {
    service,
    parts,
    async close() {
      await parts.database.close();
      await service.close();
    },
  };
}
