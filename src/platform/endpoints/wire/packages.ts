import { z } from 'zod';
import { pageQuerySchema } from '../../http/fields.ts';

/** An archive whose lists of packages were imported. */
export const signedArchiveSchema = z.object({
  archive: z.string(),
  release_date: z.string().nullable(),
  release_sha256: z.string(),
  signed_by: z.array(z.string()),
  imported_at: z.string(),
  packages: z.int(),
  opened: z.int(),
  files: z.int(),
});
export const packagesQuerySchema = pageQuerySchema;
