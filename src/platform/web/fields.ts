import { randomUUID } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Markup, type MarkupContent, markup } from '../../core/html/markup.ts';
import { CSRF_FIELD, csrfToken } from './csrf.ts';
import type { FormState } from './forms.ts';

/** Form that is posted to its own path, or to another one. */
export interface PostForm {
  action?: string;
  fields: MarkupContent;
  /** Text of the button, or the buttons themselves. */
  submit: string | Markup;
  /** True if the act cannot be undone. */
  isFinal?: boolean | undefined;
  /** Alternative to the button, shown next to it. */
  instead?: MarkupContent;
}

export function postForm(
  { request, reply, form }: { request: FastifyRequest; reply: FastifyReply; form?: FormState },
  { action, fields, submit, isFinal, instead }: PostForm,
): Markup {
  const className = isFinal === true ? markup` class="final"` : null;
  const buttons = typeof submit === 'string' ? markup`<button${className}>${submit}</button>` : submit;
  return markup`${form === undefined ? null : whatIsWrong(form)}<form method="post"${action === undefined ? null : markup` action="${action}"`} class="form">
<input type="hidden" name="${CSRF_FIELD}" value="${csrfToken(request, reply)}">
${fields}<p class="acts">${buttons}${instead ?? null}</p>
</form>
`;
}

/** Renders the summary of errors above a form, which screen readers announce when the page opens. */
function whatIsWrong({ errors, refusal }: FormState): Markup | null {
  const fields = Object.keys(errors);
  if (refusal === null && fields.length === 0) return null;
  const words =
    refusal ?? (fields.length === 1 ? 'One field needs a correction.' : `${fields.length} fields need corrections.`);
  return markup`<p class="refusal" role="alert">${words}</p>
`;
}

export interface Field {
  name: string;
  label: string;
  /** Type of the input; `text` by default. */
  type?: 'text' | 'email' | 'password' | 'number' | 'search' | 'datetime-local';
  hint?: MarkupContent;
  autocomplete?: string;
  inputMode?: 'numeric' | 'email';
  isOptional?: boolean;
  /** Initial value. */
  value?: string;
  /** True if the field gets the focus. */
  isFirst?: boolean;
}

export function field(form: FormState, view: Field): Markup {
  const { name, type = 'text', autocomplete, inputMode, isOptional } = view;
  const typed = form.values[name] ?? view.value;
  return labelled(form, view, (described) => {
    const attributes = [
      typeof typed === 'string' ? markup` value="${typed}"` : null,
      autocomplete === undefined ? null : markup` autocomplete="${autocomplete}"`,
      inputMode === undefined ? null : markup` inputmode="${inputMode}"`,
      isOptional === true ? null : markup` required`,
      beginsHere(form, view) ? markup` autofocus` : null,
    ];
    return markup`<input id="${name}" name="${name}" type="${type}"${attributes}${described}>`;
  });
}

/** Renders a text field with several lines. */
export function textArea(
  form: FormState,
  view: Pick<Field, 'name' | 'label' | 'hint' | 'isOptional'>,
  rows: number,
): Markup {
  const { name, isOptional } = view;
  const typed = form.values[name];
  const required = isOptional === true ? null : markup` required`;
  return labelled(
    form,
    view,
    (described) =>
      markup`<textarea id="${name}" name="${name}" rows="${rows}"${required}${described}>${typeof typed === 'string' ? typed : ''}</textarea>`,
  );
}

/** Renders a hidden idempotency key, so that submitting the form twice acts once. */
export function onceField({ values: { once } }: FormState): Markup {
  return hidden('once', typeof once === 'string' ? once : randomUUID());
}

/** Renders the field for an e-mail address; that of the person signing in, unless `autocomplete` differs. */
export function emailField(form: FormState, more: Pick<Field, 'isFirst' | 'autocomplete'> = {}): Markup {
  return field(form, { name: 'email', label: 'E-mail address', type: 'email', autocomplete: 'username', ...more });
}

/** Reports whether a field gets the focus: the first invalid field, or else the one that the form specifies. */
function beginsHere({ errors }: FormState, { name, isFirst }: Field): boolean {
  const [wrong] = Object.keys(errors);
  return wrong === undefined ? isFirst === true : wrong === name;
}

export interface Choice {
  value: string;
  label: string;
  hint?: string;
  /** Fields that are shown while the choice is selected; null for none. */
  fields?: readonly Markup[] | null;
}

export function select(
  form: FormState,
  view: Pick<Field, 'name' | 'label' | 'hint' | 'value'>,
  choices: readonly Choice[],
): Markup {
  const chosen = form.values[view.name] ?? view.value;
  const option = ({ value, label }: Choice) =>
    markup`<option value="${value}"${value === chosen ? markup` selected` : null}>${label}</option>`;
  return labelled(
    form,
    view,
    (described) => markup`<select id="${view.name}" name="${view.name}"${described}>${choices.map(option)}</select>`,
  );
}

/** Renders a choice of one or several options, each with an explanation. */
export function choices(
  form: FormState,
  { name, label, type }: { name: string; label: string; type: 'checkbox' | 'radio' },
  all: readonly Choice[],
): Markup {
  const chosen = [form.values[name] ?? []].flat();
  const error = form.errors[name];
  const own = (fields: Choice['fields']) => (fields == null ? null : markup`<div class="of-choice">${fields}</div>\n`);
  const one = ({ value, label: words, hint, fields }: Choice, index: number) =>
    markup`<div class="choice"><input type="${type}" id="${name}-${index}" name="${name}" value="${value}"${chosen.includes(value) ? markup` checked` : null}><label for="${name}-${index}">${words}${hint === undefined ? null : markup` <span class="minor">${hint}</span>`}</label></div>\n${own(fields)}`;
  return markup`<fieldset class="field"${error === undefined ? null : markup` aria-describedby="${name}-error"`}><legend>${label}</legend>
${error === undefined ? null : errorOf(name, error)}${all.map(one)}</fieldset>
`;
}

function labelled(
  { errors }: FormState,
  { name, label, hint, isOptional }: Pick<Field, 'name' | 'label' | 'hint' | 'isOptional'>,
  control: (described: Markup | null) => Markup,
): Markup {
  const error = errors[name];
  const ids = [...(hint === undefined ? [] : [`${name}-hint`]), ...(error === undefined ? [] : [`${name}-error`])];
  const described =
    ids.length === 0
      ? null
      : markup` aria-describedby="${ids.join(' ')}"${error === undefined ? null : markup` aria-invalid="true"`}`;
  return markup`<div class="field"><label for="${name}">${label}${isOptional === true ? markup` <span class="minor">optional</span>` : null}</label>
${hint === undefined ? null : markup`<p class="hint" id="${name}-hint">${hint}</p>\n`}${control(described)}
${error === undefined ? null : errorOf(name, error)}</div>
`;
}

function errorOf(name: string, error: string): Markup {
  return markup`<p class="error" id="${name}-error"><span aria-hidden="true">✗</span> ${error}</p>\n`;
}

/** Renders a hidden field. */
export function hidden(name: string, value: string): Markup {
  return markup`<input type="hidden" name="${name}" value="${value}">
`;
}

/** Renders the owner of a form's password, for password managers. */
export function ownerOfPassword(email: string): Markup {
  return markup`<input type="email" name="username" autocomplete="username" value="${email}" hidden>
`;
}
