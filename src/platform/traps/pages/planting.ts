import type { Markup } from '../../../core/html/markup.ts';
import { text } from '../../http/fields.ts';
import { field, select } from '../../web/fields.ts';
import { formTime } from '../../web/form-time.ts';
import type { FormState } from '../../web/forms.ts';
import { PLANT_LOCATIONS } from '../enums.ts';
import { newTrapSchema } from '../wire.ts';
import { PLACE_WORDS } from './labels.ts';

/** Form fields of every new trap. */
export const plantingSchema = {
  plant_location: newTrapSchema.shape.plant_location,
  label: text.trim().min(1, 'Enter a label').max(200),
  expires_at: formTime,
};

export function labelField(form: FormState): Markup {
  const hint = 'Name of the trap here. It is not planted, but alerts contain it, so describe what the trap imitates.';
  return field(form, { name: 'label', label: 'Label', hint, autocomplete: 'off', isFirst: true });
}

export function placeField(form: FormState): Markup {
  const places = PLANT_LOCATIONS.map((value) => ({ value, label: PLACE_WORDS[value] }));
  return select(form, { name: 'plant_location', label: 'Location', value: 'other' }, places);
}

export function expiryField(form: FormState): Markup {
  return field(form, {
    name: 'expires_at',
    label: 'Expires, in UTC',
    type: 'datetime-local',
    isOptional: true,
    hint: 'Later uses are still detected.',
  });
}
