import type { FastifyRequest } from 'fastify';
import { type Markup, markup } from '../../core/html/markup.ts';
import { grouped } from '../../core/plurals.ts';
import { forWhoMay } from './asked.ts';
import { link } from './components.ts';
import { PAGES, pathsBelow } from './own-path.ts';

/** Returns the path of an audit stream's page, or of a page below it. */
export const auditStreamPath = pathsBelow(`${PAGES}/audit/streams`);

/** Renders the place of an entry in its stream, as a link for people who may read it. */
export function entryPlace(
  { stream_id, sequence }: { stream_id: string; sequence: number },
  request: FastifyRequest,
): Markup {
  const words = `entry ${grouped(sequence)} of its stream`;
  const path = auditStreamPath(stream_id, 'entries', sequence);
  return forWhoMay(request, 'audit:read', () => link(path, words)) ?? markup`${words}`;
}
