import { z } from 'zod';
import type { Outbox } from '../jobs/outbox.ts';
import { operationGroup } from '../operations/operation.ts';
import type { AlertChannels } from './channels.ts';
import { outcomeOf } from './trying.ts';
import {
  alertChannelParamsSchema,
  alertChannelSchema,
  alertTestSchema,
  madeAlertChannelSchema,
  newAlertChannelSchema,
} from './wire.ts';

const CHANNELS = operationGroup('alerts', 'channels');

export type AlertOperations = ReturnType<typeof alertOperations>;

export function alertOperations(channels: AlertChannels, outbox: Pick<Outbox, 'standing'>) {
  return {
    listAlertChannels: CHANNELS.get('/channels/', {
      summary: 'List the alert channels',
      answer: z.object({ data: z.array(alertChannelSchema) }),
      work: async () => ({ data: await channels.list() }),
    }),
    addAlertChannel: CHANNELS.post('/channels/', {
      summary: 'Add a webhook or an e-mail address that gets alerts; the secret of a webhook is returned only once',
      body: newAlertChannelSchema,
      isKeyed: true,
      status: 201,
      answer: madeAlertChannelSchema,
      refusals: [409, 422],
      work: ({ actor, body, key }) => channels.add(actor, body, key),
    }),
    testAlertChannel: CHANNELS.post('/channels/:alert_channel_id/test', {
      summary: 'Send a test alert, and return the result of the first attempt',
      params: alertChannelParamsSchema,
      status: 202,
      answer: alertTestSchema,
      refusals: [404],
      work: async ({ params }, { hangUp }) => {
        const { message_id } = await channels.test(params.alert_channel_id);
        return outcomeOf(outbox, message_id, hangUp());
      },
    }),
    removeAlertChannel: CHANNELS.delete('/channels/:alert_channel_id', {
      summary: 'Remove an alert channel',
      params: alertChannelParamsSchema,
      answer: alertChannelSchema,
      refusals: [404],
      work: ({ actor, params }) => channels.remove(actor, params.alert_channel_id),
    }),
  };
}
