import { operationGroup } from '../../operations/operation.ts';
import type { AgentService } from '../service.ts';
import { subscriberListSchema, subscriberParamsSchema, subscriberSchema, wireSubscriberSchema } from '../wire/kill.ts';

const SUBSCRIBERS = operationGroup('agents', 'subscribers');

export function subscriberOperations({ subscribers }: AgentService) {
  return {
    listSubscribers: SUBSCRIBERS.get('/subscribers', {
      summary: 'List the subscribers that are notified when agents are stopped or reinstated',
      answer: subscriberListSchema,
      work: async () => ({ data: await subscribers.list() }),
    }),
    addSubscriber: SUBSCRIBERS.post('/subscribers', {
      summary:
        'Add a subscriber: push signed Security Event Tokens (RFC 8417) to an address (RFC 8935) when agents are stopped or reinstated',
      body: subscriberSchema,
      isKeyed: true,
      status: 201,
      answer: wireSubscriberSchema,
      refusals: [409],
      work: ({ actor, body, key }) => subscribers.add(actor, body, key),
    }),
    removeSubscriber: SUBSCRIBERS.delete('/subscribers/:subscriber_id', {
      summary: 'Remove a subscriber and discard its pending messages',
      params: subscriberParamsSchema,
      answer: wireSubscriberSchema,
      refusals: [404],
      work: ({ actor, params }) => subscribers.remove(actor, params.subscriber_id),
    }),
  };
}
