import { z } from 'zod';
import type { Markup } from '../../core/html/markup.ts';
import { reason } from '../http/fields.ts';
import { type Field, field } from './fields.ts';
import type { FormState } from './forms.ts';

/** Reason of an act in a form. */
export const askedReason = z.string().trim().min(1, 'Enter a reason; it is recorded').pipe(reason);

export function reasonField(form: FormState, more: Pick<Field, 'isFirst'> = {}): Markup {
  const hint = 'Recorded in the audit stream, with your name.';
  return field(form, { name: 'reason', label: 'Reason', hint, autocomplete: 'off', ...more });
}
