import { type Markup, markup, name } from '../../../core/html/markup.ts';
import { link, statusWord } from '../../web/components.ts';
import type { Explanation, WireEvent } from '../wire/events.ts';
import { changePath, PACKAGES_PATH, windowPath } from './paths.ts';

type Explained = Pick<WireEvent, 'explanation' | 'change_id' | 'window_id'>;

/** Returns the explanation of an event in a few words. */
export function explanationWord({ explanation }: Pick<WireEvent, 'explanation'>): Markup {
  switch (explanation.kind) {
    case 'none':
      return markup`<span class="minor">none</span>`;
    case 'signed_package':
      return markup`${statusWord('good', 'signed package')} ${name(`${explanation.name} ${explanation.version}`)}`;
    case 'approved_change':
      return statusWord('good', 'approved change');
  }
}

/** Renders the explanation of an event, its source, and its effect. */
export function explanationSentences(event: Explained): Markup {
  return markup`${explanationWord(event)} <p class="minor">${sentenceOf(event)}</p>`;
}

function sentenceOf(event: Explained): Markup {
  const { explanation } = event;
  switch (explanation.kind) {
    case 'none':
      return markup`No ${link(PACKAGES_PATH, 'imported package')} contains this file at this path, and nobody has approved the change.`;
    case 'signed_package':
      return markup`The file is from this package in the archive ${name(explanation.archive)}, signed by ${signers(explanation)}. This lowers the severity.`;
    case 'approved_change':
      return markup`Approved: ${approvalLink(event, explanation.id)}. This lowers the severity.`;
  }
}

function signers({ signed_by }: Extract<Explanation, { kind: 'signed_package' }>): Markup {
  return name([signed_by].flat().join(', '));
}

/** Returns a link to the approved change or change window. */
function approvalLink({ change_id, window_id }: Explained, id: string): Markup {
  if (id === change_id) return link(changePath(id), 'the change on all endpoints');
  return link(windowPath(window_id ?? id), 'the events of a change window');
}
