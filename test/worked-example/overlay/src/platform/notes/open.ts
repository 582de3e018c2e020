import { serveOpenApi } from '../http/openapi.ts';
import type { OpenService, ServiceDeps } from '../open-module.ts';
import { serveOperations } from '../operations/operation.ts';
import { Notes } from './notes.ts';
import { noteOperations } from './operations.ts';
import { pagesOfNotes } from './pages/pages.ts';
import { noteSchema } from './wire.ts';

const TIDY_MS = 60 * 60_000;

export async function openNotes({ database, clock }: ServiceDeps): Promise<OpenService> {
  const notes = new Notes(database, clock);
  const operations = noteOperations(notes);
  return {
    async routes(server) {
      const description = 'Notes that people leave for each other.';
      await serveOpenApi(server, { title: 'Notes', description, schemas: { Note: noteSchema } });
      serveOperations(server, operations);
    },
    pages: pagesOfNotes({ notes, operations, clock }),
    jobs: [{ name: 'notes/tidy', everyMs: TIDY_MS, atMostMs: TIDY_MS, run: () => notes.tidy() }],
    settled: async () => {},
  };
}
