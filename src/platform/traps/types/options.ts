import type { z } from 'zod';
import type { Json } from '../../../core/json/canonical.ts';
import { DomainError } from '../../errors.ts';

/** What a type is told, by its schema. @throws DomainError `invalid_request` naming the option. */
export function readTypeOptions<S extends z.ZodType>(schema: S, options: { [name: string]: Json }): z.output<S> {
  const read = schema.safeParse(options);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const place = ['options', ...(issue?.path ?? [])].join('.');
  throw new DomainError('invalid_request', `${place}: ${issue?.message ?? 'is not valid'}`);
}
