import { name } from '../../../core/html/markup.ts';
import { serveOperationAct } from '../../operations/act.ts';
import { serveOperationList } from '../../operations/list.ts';
import { dataTable, emptyState, link, moment } from '../../web/components.ts';
import { PAGES } from '../../web/own-path.ts';
import type { ModulePages } from '../../web/web.ts';
import type { Notes } from '../notes.ts';
import type { NoteOperations } from '../operations.ts';

const PATH = `${PAGES}/notes`;

export interface NotePageDeps {
  notes: Notes;
  operations: NoteOperations;
  clock: () => Date;
}

/** Pages of notes: the list, and the way to remove one. */
export function pagesOfNotes({ notes, operations, clock }: NotePageDeps): ModulePages {
  return {
    nav: [{ title: 'Notes', path: PATH, scope: 'notes:read' }],
    async routes(server) {
      serveOperationList(server, operations.listNotes, {
        path: '/notes',
        api: '/notes',
        head: () => ({ title: 'Notes', introduction: 'Notes that people leave for each other.' }),
        table: (rows) =>
          dataTable({
            caption: 'Notes',
            columns: [
              { head: 'Note', kind: 'name', cell: ({ text }) => name(text) },
              { head: 'Written', cell: ({ written_at }) => moment(written_at, clock()) },
              { head: 'Act', kind: 'act', cell: ({ note_id }) => link(`${PATH}/${note_id}/remove`, 'Remove') },
            ],
            rows,
            empty: emptyState('Nobody has left a note.'),
          }),
      });
      serveOperationAct(server, operations.removeNote, {
        path: '/notes/:note_id/remove',
        api: '/notes',
        subject: ({ note_id }) => notes.find(note_id),
        view: () => ({
          title: 'Remove a note',
          above: [{ title: 'Notes', path: PATH }],
          introduction: 'Nobody can bring it back.',
          submit: 'Remove it',
          isFinal: true,
          back: PATH,
        }),
        notice: () => 'The note is removed.',
      });
    },
  };
}
