import type { FastifyRequest } from 'fastify';
import { type Markup, type MarkupContent, markup } from '../../core/html/markup.ts';
import type { Scope } from '../scopes.ts';
import { forWhoMay } from './asked.ts';

/** Renders a part of a page with a heading. @param all link to everything that the part shows some of. */
export function section(title: MarkupContent, content: MarkupContent, all: Markup | null = null): Markup {
  return markup`<h2>${title}</h2>
${content}${all === null ? null : markup`<p class="further">${all}</p>\n`}`;
}

/** Renders buttons for people who have a scope; null for others. */
export function actsFor(request: FastifyRequest, scope: Scope, acts: MarkupContent): Markup | null {
  return forWhoMay(request, scope, () => markup`<p class="acts">${acts}</p>\n`);
}
