import { pageQuerySchema } from '../../http/fields.ts';
import { pageSchema } from '../../http/wire.ts';
import { operationGroup } from '../../operations/operation.ts';
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

const CHANGES = operationGroup('endpoints', 'changes');

// Over 40 lines: it is the list of operations.
export function changeOperations({ changes, windows }: EndpointService) {
  const decide = (name: 'approve' | 'reopen', summary: string) =>
    CHANGES.post(`/change-windows/:window_id/${name}`, {
      summary,
      params: windowParamsSchema,
      body: reasonSchema,
      answer: windowSchema,
      refusals: [404],
      work: ({ actor, params, body }) => windows[name](actor, params.window_id, body),
    });
  return {
    listChanges: CHANGES.get('/changes/', {
      summary: 'List equal changes across endpoints, newest first',
      query: changeQuerySchema,
      answer: pageSchema(changeSchema),
      work: ({ query }) => changes.list(query),
    }),
    getChange: CHANGES.get('/changes/:change_id', {
      summary: 'Get a change, with the number of endpoints that have it, and of those that could',
      params: changeParamsSchema,
      answer: changeSchema,
      refusals: [404],
      work: ({ params }) => changes.find(params.change_id),
    }),
    approveChange: CHANGES.post('/changes/:change_id/approve', {
      summary: 'Approve a change on all endpoints, which explains it and lowers its severity',
      params: changeParamsSchema,
      body: reasonSchema,
      answer: changeSchema,
      refusals: [404],
      work: ({ actor, params, body }) => changes.approve(actor, params.change_id, body),
    }),
    openChangeWindow: CHANGES.post('/change-windows/', {
      summary: 'Open a change window, in which changes raise no alerts but are still listed',
      body: newWindowSchema,
      isKeyed: true,
      status: 201,
      answer: windowSchema,
      refusals: [404],
      work: ({ actor, body, key }) => windows.open(actor, body, key),
    }),
    listChangeWindows: CHANGES.get('/change-windows/', {
      summary: 'List change windows, newest first',
      query: pageQuerySchema,
      answer: pageSchema(windowSchema),
      work: ({ query }) => windows.list(query),
    }),
    getChangeWindow: CHANGES.get('/change-windows/:window_id', {
      summary: 'Get a change window',
      params: windowParamsSchema,
      answer: windowSchema,
      refusals: [404],
      work: ({ params }) => windows.find(params.window_id),
    }),
    approveChangeWindow: decide(
      'approve',
      'Approve the events that a window quieted, which explains them and lowers their severity',
    ),
    reopenChangeWindow: decide('reopen', 'Reopen the events that a window quieted'),
  };
}
