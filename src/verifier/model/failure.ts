import { z } from 'zod';
import { ERROR_CODES, type EvidenceError } from '../../core/errors.ts';

/** Failure as archived: the error's code, by which programs decide, and its message for people. */
export const failureSchema = z.strictObject({ code: z.enum(ERROR_CODES), reason: z.string() });
export type Failure = z.infer<typeof failureSchema>;

/** Form of a package that is missing, and the failure. */
export const missingFormSchema = z.strictObject({ form: z.string(), ...failureSchema.shape });
export type MissingForm = z.infer<typeof missingFormSchema>;

export function toFailure({ code, message }: EvidenceError): Failure {
  return { code, reason: message };
}
