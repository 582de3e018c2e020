import type { FastifyReply, FastifyRequest } from 'fastify';
import { markup } from '../../core/html/markup.ts';
import { type HttpProblem, headersOf, logFailure, toProblem } from '../http/problem.ts';
import { GoFirst } from './access.ts';
import { sentence } from './forms.ts';
import { FRONT } from './own-path.ts';

const TITLES: Record<number, string> = {
  403: 'Not allowed',
  404: 'Not found',
  405: 'Not found',
  413: 'Too large',
  429: 'Too many attempts',
  500: 'Internal error',
  503: 'Temporarily unavailable',
  507: 'Disk full',
};

/** Titles of codes that are more specific than their status. */
const TITLES_OF_CODES: Record<string, string> = { foreign_form: 'Form not accepted' };

/** Answers every failure with a page; a defect reveals only the id of the request. */
export function answerProblemPage(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  if (error instanceof GoFirst) {
    reply.redirect(error.to, 303);
    return;
  }
  const problem = toProblem(error);
  logFailure(request, problem, error);
  reply.headers(headersOf(problem));
  reply.page({
    title: TITLES_OF_CODES[problem.code] ?? TITLES[problem.status] ?? 'Request failed',
    status: problem.status,
    isNarrow: true,
    content: markup`<p>${sentence(inWords(problem))}</p>
<p><a href="${FRONT}">Go to the overview</a></p>
${problem.status < 500 ? null : markup`<p class="minor">Request <code>${request.id}</code></p>`}`,
  });
}

/** Returns a message with the name of the field, but not its place in the request. */
function inWords({ fields: [first], message }: HttpProblem): string {
  return first === undefined || first.field === '' ? message : `${first.field}: ${first.message}`;
}
