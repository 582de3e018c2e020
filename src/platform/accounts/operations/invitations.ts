import { pageQuerySchema } from '../../http/fields.ts';
import { pageSchema } from '../../http/wire.ts';
import { operationGroup } from '../../operations/operation.ts';
import type { Invitations } from '../invitations.ts';
import { invitationParamsSchema, invitationSchema, openInvitationSchema, sentInvitationSchema } from '../wire.ts';

const PEOPLE = operationGroup('people', 'people');

export function invitationOperations(invitations: Invitations) {
  return {
    listInvitations: PEOPLE.get('/invitations', {
      summary: 'List the open invitations, in the order of expiry',
      query: pageQuerySchema,
      answer: pageSchema(openInvitationSchema),
      refusals: [422],
      work: ({ query }) => invitations.list(query),
    }),
    invitePerson: PEOPLE.post('/invitations', {
      summary: 'Invite somebody by mail; the link works once, within 24 hours',
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
      summary: 'Withdraw an invitation: its link stops working, and its mail is not sent if it is still queued',
      params: invitationParamsSchema,
      answer: sentInvitationSchema,
      refusals: [404],
      work: ({ actor, params }) => invitations.withdraw(actor, params.link_id),
    }),
    sendInvitationAgain: PEOPLE.post('/invitations/:link_id/send-again', {
      summary: 'Send an invitation again, with the same link, valid for another 24 hours',
      params: invitationParamsSchema,
      answer: openInvitationSchema,
      refusals: [404],
      work: ({ actor, params }) => invitations.sendAgain(actor, params.link_id),
    }),
  };
}
