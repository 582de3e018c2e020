import { z } from 'zod';
import { invalidField } from '../../errors.ts';
import type { TrapInput } from './type.ts';

/** Reads the options of a type. @throws DomainError `invalid_request` naming an unknown or wrong one. */
export function readOptions<T>(schema: z.ZodType<T>, { options }: TrapInput): T {
  const read = schema.safeParse(options);
  if (read.success) return read.data;
  throw invalidField('options', `${z.prettifyError(read.error).replaceAll(/\s+/g, ' ')}`);
}
