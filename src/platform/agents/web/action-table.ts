import { type Markup, markup, name } from '../../../core/html/markup.ts';
import { dataTable, emptyState, link, moment, statusWord } from '../../web/components.ts';
import type { WireAction } from '../requests/actions.ts';
import { actionPath } from './paths.ts';
import { decisionWord, RULE_WORDS } from './words.ts';

/** Actions as rows. */
export function actionTable(
  actions: readonly WireAction[],
  now: Date,
  empty: Markup = emptyState('It has reported nothing so far.'),
): Markup {
  return dataTable({
    caption: 'Actions',
    columns: [
      { head: 'What', kind: 'name', cell: whatCell },
      { head: 'With', cell: ({ tool_used, api_called }) => withCell(tool_used, api_called) },
      { head: 'Decision', cell: decisionCell },
      { head: 'Signed', cell: signedCell },
      { head: 'Score', kind: 'number', cell: scoreCell },
      { head: 'When', cell: ({ received_at }) => moment(received_at, now) },
    ],
    rows: actions,
    empty,
  });
}

/** A description may be long: a row shows its beginning. */
const SHORT_TEXT = 120;

function whatCell({ agent_id, action_id, action_type, action_description }: WireAction): Markup {
  const text = action_description.trim() === '' ? action_type : action_description;
  const short = text.length > SHORT_TEXT ? `${text.slice(0, SHORT_TEXT)}…` : text;
  return markup`${link(actionPath(agent_id, action_id), short)} <span class="minor">${name(action_type)}</span>`;
}

function withCell(tool: string | null, api: string | null): Markup {
  const names = [tool, api].filter((each) => each !== null);
  if (names.length === 0) return markup`<span class="minor">nothing named</span>`;
  return markup`<ul class="words">${names.map((each) => markup`<li><code>${name(each)}</code></li>`)}</ul>`;
}

function decisionCell({ decision, violations }: WireAction): Markup {
  const words = violations.map(({ rule }) => RULE_WORDS[rule]).join(', ');
  return markup`${decisionWord(decision)}${words === '' ? null : markup` <span class="minor">${words}</span>`}`;
}

function signedCell({ attested }: WireAction): Markup {
  return attested ? statusWord('good', 'by its key') : markup`<span class="minor">no</span>`;
}

function scoreCell({ trust: { before, after } }: WireAction): Markup {
  if (before === after) return markup`${after}`;
  return markup`${before} → ${after}`;
}
