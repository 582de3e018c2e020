import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { whereDefined } from '../../core/defined.ts';
import { type Markup, type MarkupContent, markup } from '../../core/html/markup.ts';
import { postForm } from './fields.ts';
import { type Access, type Done, serveForm } from './forms.ts';
import type { PageView } from './layout.ts';

/** Texts of a page with a single button. */
export interface ActView {
  title: string;
  above: NonNullable<PageView['above']>;
  introduction: MarkupContent;
  submit: string;
  /** True if the act cannot be undone. */
  isFinal?: boolean;
  /** Path of the cancel link. */
  back: string;
}

/** Texts of one of several acts on the same kind of subject, for a page with a single button. */
export interface NamedAct<Operation extends string> extends Pick<ActView, 'introduction' | 'submit' | 'isFinal'> {
  /** Name of the page below that of its subject. */
  path: string;
  operation: Operation;
  title(name: string): string;
  /** Returns the notice of the result. */
  done(name: string): string;
}

/** Page with a single button, and its act. */
interface ActPage {
  path: string;
  access: Access;
  params?: z.ZodObject;
  view(request: FastifyRequest): ActView | Promise<ActView>;
  act(request: FastifyRequest): Promise<Done>;
}

/** Serves a page with a single button at its path. */
export function serveAct(server: FastifyInstance, { path, access, params, view, act }: ActPage): void {
  serveForm(server, {
    path,
    access,
    schema: z.object({}),
    ...whereDefined({ params }),
    async show(asked) {
      const { submit, isFinal, back, ...shown } = await view(asked.request);
      const button = postForm(asked, { fields: null, submit, isFinal, instead: insteadOfAct(back) });
      return { ...shown, isNarrow: true, content: button };
    },
    act: (_given, request) => act(request),
  });
}

/** The way out of a page with a button, beside it. */
export function insteadOfAct(back: string): Markup {
  return markup`<a href="${back}">Cancel</a>`;
}
