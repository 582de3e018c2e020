import { type Markup, name } from '../../../core/html/markup.ts';
import { dataTable, emptyState, momentOr } from '../../web/components.ts';
import type { WireTrap } from '../wire.ts';
import { CHANNEL_WORDS, channelWord } from './labels.ts';

/** Renders the channels of a trap, and whether each would detect a use. */
export function channelTable({ detection_channels }: WireTrap, now: Date): Markup {
  return dataTable({
    caption: 'Channels',
    columns: [
      { head: 'Channel', kind: 'name', cell: ({ channel }) => CHANNEL_WORDS[channel] },
      { head: 'Status', cell: (channel) => channelWord(channel, now) },
      { head: 'Reason', cell: ({ reason }) => name(reason) },
      { head: 'Last proved', cell: ({ last_proved_at }) => momentOr(last_proved_at, now, 'never') },
    ],
    rows: detection_channels,
    empty: emptyState('No channels.'),
  });
}
