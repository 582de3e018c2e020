import { z } from 'zod';
import { entrySchema } from '../audit/api.ts';
import { pageQuerySchema, text } from '../http/fields.ts';
import { pageSchema } from '../http/wire.ts';
import { operationGroup } from '../operations/operation.ts';
import type { AdministrationService } from './service.ts';

const ADMINISTRATION = operationGroup('administration', 'administration');

const time = z.string();
const messageParamsSchema = z.object({ message_id: text });

export const deadLetterSchema = z.object({
  message_id: z.string(),
  kind: z.string(),
  /** Channel of an alert; null for other messages. */
  alert_channel_id: z.string().nullable(),
  created_at: time,
  attempts: z.int(),
  ended_at: time.nullable(),
  last_error: z.string().nullable(),
});

export type AdministrationOperations = ReturnType<typeof administrationOperations>;

export function administrationOperations(service: AdministrationService) {
  return {
    listActs: ADMINISTRATION.get('/acts', {
      summary: 'List administrative acts, newest first',
      query: pageQuerySchema,
      answer: pageSchema(entrySchema),
      refusals: [422],
      work: ({ query }) => service.acts(query),
    }),
    listDeadLetters: ADMINISTRATION.get('/dead-letters', {
      summary: 'List undeliverable messages, newest first',
      query: pageQuerySchema,
      answer: pageSchema(deadLetterSchema),
      refusals: [422],
      work: ({ query }) => service.deadLetters(query),
    }),
    replayDeadLetter: ADMINISTRATION.post('/dead-letters/:message_id/replay', {
      summary: 'Retry the delivery of a message, with its attempts reset',
      params: messageParamsSchema,
      answer: messageParamsSchema,
      refusals: [404, 409],
      work: ({ actor, params }) => service.replay(actor, params.message_id),
    }),
  };
}
