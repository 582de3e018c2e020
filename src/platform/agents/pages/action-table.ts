import { type Markup, markup, name } from '../../../core/html/markup.ts';
import { dataTable, emptyState, link, moment, statusWord } from '../../web/components.ts';
import type { WireAction } from '../wire/actions.ts';
import { decisionWord, RULE_WORDS } from './labels.ts';
import { actionPath } from './paths.ts';

/** Renders actions as rows. */
export function actionTable(
  actions: readonly WireAction[],
  now: Date,
  empty: Markup = emptyState('No actions yet.'),
): Markup {
  return dataTable({
    caption: 'Actions',
    columns: [
      { head: 'What', kind: 'name', cell: whatCell },
      { head: 'Decision', cell: decisionCell },
      { head: 'Signed', cell: signedCell },
      { head: 'When', cell: ({ received_at }) => moment(received_at, now) },
      { head: 'Score', kind: 'number', cell: scoreCell },
    ],
    rows: actions,
    empty,
  });
}

/** Maximum length of a description in a row, which shows its start. */
const SHORT_TEXT = 120;

function whatCell({ agent_id, action_id, action_type, action_description, tool_used, api_called }: WireAction): Markup {
  const characters = Array.from(action_description.trim() === '' ? action_type : action_description);
  const rest = characters.length > SHORT_TEXT ? '…' : '';
  const words = `${characters.slice(0, SHORT_TEXT).join('')}${rest}`;
  const used = [tool_used, api_called].filter((each) => each !== null);
  return markup`${link(actionPath(agent_id, action_id), words)} <span class="minor">${name(action_type)}${used.map((each) => markup` · ${name(each)}`)}</span>`;
}

function decisionCell({ decision, violations }: WireAction): Markup {
  const words = violations.map(({ rule }) => RULE_WORDS[rule]).join(', ');
  return markup`${decisionWord(decision)}${words === '' ? null : markup` <span class="minor">${words}</span>`}`;
}

function signedCell({ attested }: WireAction): Markup {
  return attested ? statusWord('good', 'with its key') : markup`<span class="minor">no</span>`;
}

function scoreCell({ trust: { before, after } }: WireAction): Markup {
  if (before === after) return markup`${after}`;
  return markup`${before} → ${after}`;
}
