import { type Markup, markup, name } from '../../../core/html/markup.ts';
import { grouped } from '../../../core/plurals.ts';
import { alertWord, severityWord } from '../../alerts/api.ts';
import { dataTable, link, moment } from '../../web/components.ts';
import type { WireDetection } from '../wire.ts';
import { DEPTH_WORDS, detectionStatusWord, TYPE_WORDS } from './labels.ts';
import { detectionPath } from './paths.ts';

/** Renders detections as rows. @param hasStatus true if the rows differ in status. */
export function detectionTable(
  detections: readonly WireDetection[],
  { caption, empty, hasStatus, now }: { caption: string; empty: Markup; hasStatus: boolean; now: Date },
): Markup {
  const status = { head: 'Status', cell: (each: WireDetection) => detectionStatusWord(each.status) };
  return dataTable({
    caption,
    columns: [
      { head: 'Trap', kind: 'name', cell: trapCell },
      ...(hasStatus ? [status] : []),
      { head: 'Severity', cell: ({ severity }) => severityWord(severity) },
      { head: 'Depth', kind: 'short', cell: ({ depth }) => DEPTH_WORDS[depth].word },
      { head: 'From', kind: 'short', cell: ({ source_ip }) => orUnknown(source_ip) },
      { head: 'Client', cell: ({ user_agent }) => shortText(user_agent) },
      { head: 'Alert', cell: ({ alert }) => alertWord(alert.state) },
      { head: 'Last seen', cell: ({ last_seen }) => moment(last_seen, now) },
      { head: 'Uses', kind: 'number', cell: ({ occurrences }) => grouped(occurrences) },
    ],
    rows: detections,
    empty,
  });
}

function trapCell({ detection_id, label, credential_type }: WireDetection): Markup {
  return markup`${link(detectionPath(detection_id), label)} <span class="minor">${TYPE_WORDS[credential_type].title}</span>`;
}

/** Renders the user agent, or a note that there is none. */
export function orUnknown(text: string | null): Markup {
  return text === null ? markup`<span class="minor">unknown</span>` : markup`${name(text)}`;
}

const SHORT = 80;

function shortText(text: string | null): Markup {
  return orUnknown(text === null || text.length <= SHORT ? text : `${text.slice(0, SHORT).toWellFormed()}…`);
}
