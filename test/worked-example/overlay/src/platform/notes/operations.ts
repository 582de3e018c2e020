import { pageQuerySchema } from '../http/fields.ts';
import { pageSchema } from '../http/wire.ts';
import { operationGroup } from '../operations/operation.ts';
import type { Notes } from './notes.ts';
import { newNoteSchema, noteParamsSchema, noteSchema } from './wire.ts';

const NOTES = operationGroup('notes', 'notes');

export type NoteOperations = ReturnType<typeof noteOperations>;

/** Returns the operations on notes. */
export function noteOperations(notes: Notes) {
  return {
    addNote: NOTES.post('/', {
      summary: 'Leave a note',
      body: newNoteSchema,
      status: 201,
      answer: noteSchema,
      work: ({ actor, body }) => notes.add(actor, body),
    }),
    listNotes: NOTES.get('/', {
      summary: 'List notes, newest first',
      query: pageQuerySchema,
      answer: pageSchema(noteSchema),
      refusals: [422],
      work: ({ query }) => notes.list(query),
    }),
    removeNote: NOTES.delete('/:note_id', {
      summary: 'Remove a note',
      params: noteParamsSchema,
      answer: noteSchema,
      refusals: [404],
      work: ({ params }) => notes.remove(params.note_id),
    }),
  };
}
