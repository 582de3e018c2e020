import { z } from 'zod';
import { type Markup, markup } from '../../../core/html/markup.ts';
import { field, hidden } from '../../web/fields.ts';
import type { FormState } from '../../web/forms.ts';
import type { MakingOptions, PasskeyAnswer, SigningOptions } from '../ceremonies.ts';
import type { FactorQuestion } from '../second-factors.ts';

/** Name of the field in which `passkeys.js` puts the authenticator's answer. */
const FIELD = 'passkey';

/** Maximum length of an answer, more than any authenticator needs. */
const LONGEST_ANSWER = 16 * 1024;

const answerSchema = z.looseObject({ id: z.string() });

/** Content of the passkey field. */
export const passkeySchema = z
  .string()
  .max(LONGEST_ANSWER)
  .transform((written, context): PasskeyAnswer => {
    const read = answerSchema.safeParse(parse(written));
    if (read.success) return read.data;
    context.addIssue('This is not an answer of a passkey');
    return z.NEVER;
  });

/** Code as people type it, possibly in groups. */
export const codeSchema = z.string().transform((typed) => typed.replace(/\s/g, ''));

/** Fields of all second factors of a person, of which one is filled in. */
const isEmpty = (given: unknown) => (given === '' ? undefined : given);
export const factorSchema = {
  code: z.preprocess(isEmpty, codeSchema.optional()),
  passkey: z.preprocess(isEmpty, passkeySchema.optional()),
  recovery_code: z.preprocess(isEmpty, z.string().max(100).optional()),
};

function parse(written: string): unknown {
  try {
    return JSON.parse(written);
  } catch {
    return null;
  }
}

/** Renders the fields for a second factor; null if the person has none. */
export function factorFields(form: FormState, question: FactorQuestion, isFirst = false): Markup {
  const { factors, options, hasRecovery } = question;
  const error = form.errors['code'];
  const code = factors.includes('authenticator')
    ? codeField(form, isFirst)
    : error === undefined
      ? null
      : markup`<p class="error"><span aria-hidden="true">✗</span> ${error}</p>\n`;
  const recovery = hasRecovery ? recoveryField(form) : null;
  if (!factors.includes('passkey')) return markup`${code}${recovery}`;
  const instead = factors.includes('authenticator') ? TYPE_THE_CODE : hasRecovery ? USE_RECOVERY : ASK_AN_OWNER;
  const why = options === null ? markup`<p class="minor">${ELSEWHERE} ${instead}</p>\n` : null;
  return markup`${code}${passkeyField()}${why ?? withoutScripts(`${WITHOUT_SCRIPTS} ${instead}`)}${recovery}`;
}

export const WITHOUT_SCRIPTS = 'Passkeys need a browser that supports them and runs scripts.';
const ELSEWHERE = 'Passkeys cannot be used at this address.';
const TYPE_THE_CODE = 'Enter the code of your authenticator.';
const USE_RECOVERY = 'Use another browser or a recovery code.';
const ASK_AN_OWNER = 'Use another browser, or ask an owner to remove your second factor.';

/** Renders the buttons of a form that asks for a second factor. */
export function factorButtons({ factors, options }: FactorQuestion, submit: string): Markup | string {
  if (options === null) return submit;
  const passkey = passkeyButton('get', options, `${submit} with a passkey`);
  const isOnly = !factors.includes('authenticator');
  return isOnly ? passkey : markup`<button>${submit}</button>${passkey}`;
}

export function passkeyField(): Markup {
  return markup`${hidden(FIELD, '')}<p class="error" role="alert" data-passkey-words hidden></p>\n`;
}

/** Renders a note that is shown if scripts do not run, in which case the button stays hidden. */
export function withoutScripts(words: string): Markup {
  return markup`<p class="minor" data-without-scripts>${words}</p>\n`;
}

/** Renders a button that requests a passkey from the browser, and submits its form with the answer. */
export function passkeyButton(
  ceremony: 'create' | 'get',
  options: MakingOptions | SigningOptions,
  words: string,
): Markup {
  return markup`<button data-passkey="${ceremony}" data-options="${JSON.stringify(options)}" hidden>${words}</button>`;
}

/** Renders the field for a recovery code, which opens on request. */
function recoveryField(form: FormState): Markup {
  const hint = 'One of the codes that you saved. Each works once.';
  const input = field(form, {
    name: 'recovery_code',
    label: 'Recovery code',
    hint,
    autocomplete: 'off',
    isOptional: true,
  });
  return markup`<details><summary>Use a recovery code instead</summary>
${input}<p><button class="quiet" formnovalidate>Use the recovery code</button></p>
</details>
`;
}

/** Renders the field for an authenticator's code. */
export function codeField(form: FormState, isFirst = false): Markup {
  const hint = 'The six digits that your authenticator shows.';
  const autocomplete = 'one-time-code';
  return field(form, { name: 'code', label: 'Code', hint, autocomplete, inputMode: 'numeric', isFirst });
}
