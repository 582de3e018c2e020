import { pageQuerySchema } from '../../http/fields.ts';
import { pageSchema } from '../../http/wire.ts';
import { operationGroup } from '../../operations/operation.ts';
import type { Invitations } from '../invitations.ts';
import { invitationParamsSchema, invitationSchema, openInvitationSchema, sentInvitationSchema } from '../wire.ts';

const PEOPLE = operationGroup('people', 'people');

export function invitationOperations(invitations: Invitations) {
  return {
    listInvitations: PEOPLE.get('/invitations', {
      summary: 'List the open invitations, those that end first first',
      query: pageQuerySchema,
      answer: pageSchema(openInvitationSchema),
      refusals: [422],
      work: ({ query }) => invitations.list(query),
    }),
    invitePerson: PEOPLE.post('/invitations', {
      summary: 'Send somebody a link to an account, which works once and for a day',
      body: invitationSchema,
      isKeyed: true,
      status: 201,
      answer: sentInvitationSchema,
      refusals: [409, 422],
      work: async ({ actor, body, key }) => {
        const sent = await invitations.invite(actor, body, key);
        return { ...sent, ...body };
      },
    }),
    withdrawInvitation: PEOPLE.post('/invitations/:link_id/withdraw', {
      summary: 'Make the link of an invitation no good any more, and hold back its letter where that was not sent yet',
      params: invitationParamsSchema,
      answer: sentInvitationSchema,
      refusals: [404],
      work: ({ actor, params }) => invitations.withdraw(actor, params.link_id),
    }),
    sendInvitationAgain: PEOPLE.post('/invitations/:link_id/send-again', {
      summary: 'Mail the same link again, which is good for a day from now on',
      params: invitationParamsSchema,
      answer: openInvitationSchema,
      refusals: [404],
      work: ({ actor, params }) => invitations.sendAgain(actor, params.link_id),
    }),
  };
}
