import { z } from 'zod';
import type { Markup } from '../../../core/html/markup.ts';
import { field, textArea } from '../../web/fields.ts';
import { linesOfField } from '../../web/form-lines.ts';
import type { FormState } from '../../web/forms.ts';
import { agentRegistrationSchema, type WireAgent } from '../wire/agents.ts';

const { model, version, allowed_tools, allowed_apis } = agentRegistrationSchema.shape;

/** Form fields of an agent's composition and rights, for registration and changes. */
export const compositionShape = {
  model: z.string().trim().min(1, 'Enter a model').pipe(model),
  version: z.string().trim().min(1, 'Enter a version').pipe(version),
  allowed_tools: z.preprocess(linesOfField, allowed_tools),
  allowed_apis: z.preprocess(linesOfField, allowed_apis),
};

/** Returns the values of an existing agent for these fields. */
export function typedOf({ model, version, allowed_tools, allowed_apis }: WireAgent): FormState['values'] {
  return { model, version, allowed_tools: allowed_tools.join('\n'), allowed_apis: allowed_apis.join('\n') };
}

export function compositionFields(form: FormState): Markup[] {
  const version = 'Version of the agent, such as 1.0.0';
  const tools = 'One name per line. If empty, the agent may use no tools.';
  const apis = 'One host name per line. If empty, the agent may call no APIs.';
  return [
    field(form, { name: 'model', label: 'Model', hint: 'Name of the model that the agent uses.', autocomplete: 'off' }),
    field(form, { name: 'version', label: 'Version', autocomplete: 'off', hint: version }),
    textArea(form, { name: 'allowed_tools', label: 'Allowed tools', isOptional: true, hint: tools }, 4),
    textArea(form, { name: 'allowed_apis', label: 'Allowed APIs', isOptional: true, hint: apis }, 4),
  ];
}
