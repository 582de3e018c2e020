import { z } from 'zod';
import { operation } from '../operations/operation.ts';
import type { AlertChannels } from './channels.ts';
import {
  alertChannelParamsSchema,
  alertChannelSchema,
  alertTestSchema,
  madeAlertChannelSchema,
  newAlertChannelSchema,
} from './wire.ts';

export type AlertOperations = ReturnType<typeof alertOperations>;

/** Returns the operations on alert channels. */
// Over 40 lines: it is the list of operations.
export function alertOperations(channels: AlertChannels) {
  return {
    listAlertChannels: operation({
      method: 'GET',
      path: '/channels/',
      scope: 'alerts:read',
      tag: 'channels',
      summary: 'List the channels of alerts',
      answer: z.object({ data: z.array(alertChannelSchema) }),
      work: async () => ({ data: await channels.list() }),
    }),
    addAlertChannel: operation({
      method: 'POST',
      path: '/channels/',
      scope: 'alerts:write',
      tag: 'channels',
      summary: 'Add a webhook or an email address that gets alerts; the secret of a webhook is answered this once',
      body: newAlertChannelSchema,
      isKeyed: true,
      status: 201,
      answer: madeAlertChannelSchema,
      refusals: [409, 422],
      work: ({ actor, body, key }) => channels.add(actor, body, key),
    }),
    testAlertChannel: operation({
      method: 'POST',
      path: '/channels/:alert_channel_id/test',
      scope: 'alerts:write',
      tag: 'channels',
      summary: 'Send an alert that says that it is a test',
      params: alertChannelParamsSchema,
      status: 202,
      answer: alertTestSchema,
      refusals: [404],
      work: ({ params }) => channels.test(params.alert_channel_id),
    }),
    removeAlertChannel: operation({
      method: 'DELETE',
      path: '/channels/:alert_channel_id',
      scope: 'alerts:write',
      tag: 'channels',
      summary: 'Tell nothing more to a webhook or an e-mail address',
      params: alertChannelParamsSchema,
      answer: alertChannelSchema,
      refusals: [404],
      work: ({ actor, params }) => channels.remove(actor, params.alert_channel_id),
    }),
  };
}
