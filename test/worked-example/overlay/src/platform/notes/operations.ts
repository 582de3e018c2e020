import { pageQuerySchema } from '../http/fields.ts';
import { pageSchema } from '../http/wire.ts';
import { operation } from '../operations/operation.ts';
import type { Notes } from './notes.ts';
import { newNoteSchema, noteParamsSchema, noteSchema } from './wire.ts';

export type NoteOperations = ReturnType<typeof noteOperations>;

/** Returns the operations on notes. */
export function noteOperations(notes: Notes) {
  return {
    addNote: operation({
      method: 'POST',
      path: '/',
      scope: 'notes:write',
      tag: 'notes',
      summary: 'Leave a note',
      body: newNoteSchema,
      status: 201,
      answer: noteSchema,
      work: ({ actor, body }) => notes.add(actor, body),
    }),
    listNotes: operation({
      method: 'GET',
      path: '/',
      scope: 'notes:read',
      tag: 'notes',
      summary: 'List notes, newest first',
      query: pageQuerySchema,
      answer: pageSchema(noteSchema),
      refusals: [422],
      work: ({ query }) => notes.list(query),
    }),
    removeNote: operation({
      method: 'DELETE',
      path: '/:note_id',
      scope: 'notes:write',
      tag: 'notes',
      summary: 'Remove a note',
      params: noteParamsSchema,
      answer: noteSchema,
      refusals: [404],
      work: ({ params }) => notes.remove(params.note_id),
    }),
  };
}
