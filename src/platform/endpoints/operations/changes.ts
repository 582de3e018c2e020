import { pageQuerySchema } from '../../http/fields.ts';
import { pageSchema } from '../../http/wire.ts';
import { operation } from '../../operations/operation.ts';
import type { EndpointService } from '../service.ts';
import {
  changeParamsSchema,
  changeQuerySchema,
  changeSchema,
  newWindowSchema,
  windowParamsSchema,
  windowSchema,
} from '../wire/events.ts';
import { reasonSchema } from '../wire/hosts.ts';

/** Returns the operations on changes, and on the windows that quiet them. */
// Over 40 lines: it is the list of operations.
export function changeOperations({ changes, windows }: EndpointService) {
  const decide = (name: 'approve' | 'reopen', summary: string) =>
    operation({
      method: 'POST',
      path: `/change-windows/:window_id/${name}`,
      scope: 'endpoints:write',
      tag: 'changes',
      summary,
      params: windowParamsSchema,
      body: reasonSchema,
      answer: windowSchema,
      refusals: [404],
      work: ({ actor, params, body }) => windows[name](actor, params.window_id, body),
    });
  return {
    listChanges: operation({
      method: 'GET',
      path: '/changes/',
      scope: 'endpoints:read',
      tag: 'changes',
      summary: 'List what changed alike on however many endpoints, newest first',
      query: changeQuerySchema,
      answer: pageSchema(changeSchema),
      work: ({ query }) => changes.list(query),
    }),
    getChange: operation({
      method: 'GET',
      path: '/changes/:change_id',
      scope: 'endpoints:read',
      tag: 'changes',
      summary: 'Get a change: on how many endpoints it stands, of how many that could have it',
      params: changeParamsSchema,
      answer: changeSchema,
      refusals: [404],
      work: ({ params }) => changes.find(params.change_id),
    }),
    approveChange: operation({
      method: 'POST',
      path: '/changes/:change_id/approve',
      scope: 'endpoints:write',
      tag: 'changes',
      summary: 'Say that a change was meant, wherever it stands: it is explained, and less bad',
      params: changeParamsSchema,
      body: reasonSchema,
      answer: changeSchema,
      refusals: [404],
      work: ({ actor, params, body }) => changes.approve(actor, params.change_id, body),
    }),
    openChangeWindow: operation({
      method: 'POST',
      path: '/change-windows/',
      scope: 'endpoints:write',
      tag: 'changes',
      summary: 'Quiet changes on endpoints until a time; they are listed under the window all the same',
      body: newWindowSchema,
      isKeyed: true,
      status: 201,
      answer: windowSchema,
      refusals: [404],
      work: ({ actor, body, key }) => windows.open(actor, body, key),
    }),
    listChangeWindows: operation({
      method: 'GET',
      path: '/change-windows/',
      scope: 'endpoints:read',
      tag: 'changes',
      summary: 'List change windows, newest first',
      query: pageQuerySchema,
      answer: pageSchema(windowSchema),
      work: ({ query }) => windows.list(query),
    }),
    getChangeWindow: operation({
      method: 'GET',
      path: '/change-windows/:window_id',
      scope: 'endpoints:read',
      tag: 'changes',
      summary: 'Get a change window',
      params: windowParamsSchema,
      answer: windowSchema,
      refusals: [404],
      work: ({ params }) => windows.find(params.window_id),
    }),
    approveChangeWindow: decide(
      'approve',
      'Say that what a window quieted was meant: it is explained by it, and less bad',
    ),
    reopenChangeWindow: decide('reopen', 'Open the events that a window quieted'),
  };
}
