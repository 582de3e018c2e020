import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { type Markup, markup, name } from '../../../core/html/markup.ts';
import { idempotencyKey } from '../../http/fields.ts';
import { serveOperationAct } from '../../operations/act.ts';
import { serveOperationForm } from '../../operations/form.ts';
import type { NamedAct } from '../../web/acts.ts';
import { dataTable, emptyState, link, statusWord } from '../../web/components.ts';
import { field, onceField } from '../../web/fields.ts';
import { formTime } from '../../web/form-time.ts';
import { credentialOperations } from '../operations/credentials.ts';
import type { ChannelTest, WireTrap } from '../wire.ts';
import { CHANNEL_WORDS } from './labels.ts';
import { madeTrapPage } from './made-trap.ts';
import type { TrapPageParts } from './parts.ts';
import { ABOVE_CREDENTIALS, TRAPS_API, trapPath } from './paths.ts';

export function trapActPages(server: FastifyInstance, parts: TrapPageParts): void {
  confirmPage(server, parts);
  testPage(server, parts);
  rotatePage(server, parts);
  for (const act of ACTS) actPage(server, parts, act);
}

function confirmPage(server: FastifyInstance, { service }: TrapPageParts): void {
  serveOperationForm(server, credentialOperations(service).confirmTrap, {
    path: '/traps/credentials/:credential_id/confirm',
    api: TRAPS_API,
    schema: z.object({ planted_at: formTime }),
    refused: { invalid_request: 'planted_at' },
    subject: ({ credential_id }) => service.traps.find(credential_id),
    view({ form }, trap) {
      const hint = 'Default: now. Detections state that the trap leaked after this time.';
      const view = { name: 'planted_at', label: 'When it was planted, in UTC', hint, type: 'datetime-local' } as const;
      return {
        title: `Confirm that ${trap.label} is planted`,
        isNarrow: true,
        above: aboveOf(trap),
        fields: field(form, { ...view, isOptional: true }),
        submit: 'Confirm',
      };
    },
    done: ({ label, credential_id }) => ({
      notice: `${label} is planted.`,
      next: trapPath(credential_id),
    }),
  });
}

function testPage(server: FastifyInstance, { service }: TrapPageParts): void {
  serveOperationForm(server, credentialOperations(service).testTrap, {
    path: '/traps/credentials/:credential_id/test',
    api: TRAPS_API,
    schema: z.object({}),
    subject: ({ credential_id }) => service.traps.find(credential_id),
    view: (_asked, trap) => ({
      title: `Test ${trap.label}`,
      isNarrow: true,
      above: aboveOf(trap),
      introduction: 'The platform uses the trap like a client, with a mark. Marked uses send no alerts.',
      fields: null,
      submit: 'Test it',
    }),
    done({ data: tests }, trap) {
      const isProved = tests.length > 0 && tests.every(({ proved }) => proved);
      return {
        title: isProved ? 'All channels detected it' : 'Not all channels detected it',
        above: aboveOf(trap),
        content: [
          testTable(tests),
          markup`<p class="further">${link(trapPath(trap.credential_id), 'Back to the trap')}</p>`,
        ],
      };
    },
  });
}

function testTable(tests: readonly ChannelTest[]): Markup {
  return dataTable({
    caption: 'Results of the marked uses',
    columns: [
      { head: 'Channel', kind: 'name', cell: ({ channel }) => CHANNEL_WORDS[channel] },
      {
        head: 'Result',
        cell: ({ proved }) => (proved ? statusWord('good', 'proved') : statusWord('warning', 'not proved')),
      },
      { head: 'Details', cell: ({ outcome }) => name(outcome) },
    ],
    rows: tests,
    empty: emptyState('No channels to test.'),
  });
}

function rotatePage(server: FastifyInstance, { service, clock }: TrapPageParts): void {
  serveOperationForm(server, credentialOperations(service).rotateTrap, {
    path: '/traps/credentials/:credential_id/rotate',
    api: TRAPS_API,
    schema: z.object({ once: idempotencyKey }),
    subject: ({ credential_id }) => service.traps.find(credential_id),
    view: ({ form }, trap) => ({
      title: `Rotate ${trap.label}`,
      isNarrow: true,
      above: aboveOf(trap),
      introduction: 'A new credential replaces it. Uses of the old one are still detected.',
      fields: onceField(form),
      submit: 'Rotate',
    }),
    done: (made) => madeTrapPage(made, clock()),
  });
}

type TrapAct = NamedAct<'revokeTrap' | 'resetTrap'>;

const ACTS: readonly TrapAct[] = [
  {
    path: 'revoke',
    operation: 'revokeTrap',
    title: (label) => `Revoke ${label}`,
    introduction: 'The trap ends permanently. Remove it from where it is planted. Its uses are still detected.',
    submit: 'Revoke it',
    isFinal: true,
    done: (label) => `${label} is revoked.`,
  },
  {
    path: 'reset',
    operation: 'resetTrap',
    title: (label) => `Reset ${label}`,
    introduction: 'The trap returns to its state before it was used. Its detections and records are kept.',
    submit: 'Reset',
    done: (label) => `${label} was reset.`,
  },
];

function actPage(server: FastifyInstance, { service }: TrapPageParts, act: TrapAct): void {
  const { path, operation, title, done, ...words } = act;
  serveOperationAct(server, credentialOperations(service)[operation], {
    path: `/traps/credentials/:credential_id/${path}`,
    api: TRAPS_API,
    subject: ({ credential_id }) => service.traps.find(credential_id),
    view: (trap) => ({ ...words, title: title(trap.label), above: aboveOf(trap), back: trapPath(trap.credential_id) }),
    notice: ({ label }) => done(label),
  });
}

function aboveOf({ label, credential_id }: WireTrap): { title: string; path: string }[] {
  return [...ABOVE_CREDENTIALS, { title: label, path: trapPath(credential_id) }];
}
