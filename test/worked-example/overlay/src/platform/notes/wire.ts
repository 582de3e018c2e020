import { z } from 'zod';
import { text } from '../http/fields.ts';

export const newNoteSchema = z.strictObject({ text: text.trim().min(1).max(2000) });

export const noteParamsSchema = z.object({ note_id: text });

export const noteSchema = z.object({
  note_id: z.string(),
  text: z.string(),
  written_by: z.string(),
  written_at: z.string(),
});
export type WireNote = z.infer<typeof noteSchema>;
