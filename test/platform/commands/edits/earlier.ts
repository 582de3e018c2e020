import { byCommand } from '../../../../src/platform/accounts/administration.ts';
import { findKey, withdrawKey } from '../../../../src/platform/accounts/api-keys.ts';
import { sealedSignUps } from '../../../../src/platform/accounts/sealed-rows.ts';
import { sealedMessages } from '../../../../src/platform/alerts/sealed-rows.ts';
import { fill } from '../../service.ts';
import { NAMED, type TABLES } from './expected.ts';
import type { EditedPlace } from './place.ts';
import type { Row } from './rows.ts';

const ACTOR = byCommand('test');

/** Members of rows that changes use. */
interface Ids {
  key_id: string;
  link_id: string;
  email: string;
  person_id: string;
  sign_up_id: string;
  message_id: string;
  alert_channel_id: string;
}

/** Change of a row by the platform, after which somebody puts the row back, whole and with its seal. */
export interface Earlier {
  what: string;
  table: keyof typeof TABLES;
  /** Members of the row, if there are several. */
  row?: Row;
  change(place: EditedPlace, row: Ids): Promise<unknown>;
  /** Codes of `evidence-platform fsck`, or `NAMED`. */
  found: string;
}

/** Changes in an order in which each has its row. */
export const EARLIER: readonly Earlier[] = [
  {
    what: 'a key that was revoked',
    table: 'api_keys',
    row: { name: 'k' },
    change: ({ service }, { key_id }) => service.call('POST', `//keys/${key_id}/revoke`),
    found: 'row_contradicted',
  },
  {
    what: 'a key that was withdrawn',
    table: 'api_keys',
    row: { name: 'k' },
    change: ({ parts: { database, administration } }, { key_id }) =>
      database.write(async (transaction) => {
        const issued = { key: await findKey(transaction, key_id), text: '' };
        await withdrawKey(transaction, issued, { actor: ACTOR, administration });
      }),
    found: 'row_unrecorded',
  },
  {
    what: 'a session that ended',
    table: 'sessions',
    change: ({ parts: { accounts, database } }, { person_id }) =>
      database.write((transaction) => accounts.sessions.endAll(transaction, person_id)),
    found: NAMED,
  },
  {
    what: 'a link that was used',
    table: 'links',
    row: { used_at: null, purpose: 'reset' },
    change: ({ parts: { accounts } }, { link_id }) =>
      accounts.credentials.reset(accounts.links.token(link_id), 'another long password'),
    found: 'row_contradicted',
  },
  {
    what: 'a password that was changed since',
    table: 'people',
    async change({ parts: { accounts } }, { email }) {
      const token = await accounts.credentials.resetLink(ACTOR, email);
      await accounts.credentials.reset(token, 'a third long password');
    },
    found: 'row_contradicted',
  },
  {
    what: 'a second factor that was removed',
    table: 'passkeys',
    change: ({ parts: { accounts } }, { person_id }) => accounts.people.removeSecondFactor(ACTOR, person_id),
    found: 'row_unrecorded',
  },
  {
    what: 'a sign-up with another password',
    table: 'sign_ups',
    change: ({ parts: { database } }, row) =>
      database.write((transaction) => sealedSignUps.change(transaction, row, { password: 'another' })),
    found: NAMED,
  },
  {
    what: 'a sign-up that was declined',
    table: 'sign_ups',
    change: ({ parts: { accounts } }, { sign_up_id }) => accounts.signUps.decline(ACTOR, sign_up_id),
    found: 'row_unrecorded',
  },
  {
    what: 'an alert that was delivered',
    table: 'alert_messages',
    change: ({ parts: { database } }, row) =>
      database.write((transaction) => sealedMessages.change(transaction, row, { state: 'delivered' })),
    found: NAMED,
  },
  {
    what: 'a channel that was removed',
    table: 'alerting_channels',
    change: ({ service }, { alert_channel_id }) => service.call('DELETE', `//alerts/channels/${alert_channel_id}`),
    found: 'row_unrecorded',
  },
  {
    what: 'the totals before a check',
    table: 'totals',
    async change({ service }) {
      await fill(service, 's', 1);
      await service.call('POST', '/streams/s/verify');
    },
    found: 'checks_changed',
  },
  ...(['head_sums', 'entry_hours', 'hour_totals', 'streams'] as const).map(
    (table): Earlier => ({
      what: `${table} before an entry`,
      table,
      row: table === 'head_sums' ? { lane: 0 } : table === 'streams' ? { stream_id: 's' } : {},
      change: ({ service }) => fill(service, 's', 1),
      found: {
        head_sums: 'heads_mismatch',
        entry_hours: 'hour_mismatch',
        hour_totals: 'hour_mismatch',
        streams: 'head_mismatch count_mismatch heads_mismatch',
      }[table],
    }),
  ),
];
