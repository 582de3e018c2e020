import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { type Markup, markup } from '../../../core/html/markup.ts';
import { idempotencyKey } from '../../http/fields.ts';
import { serveOperationForm } from '../../operations/form.ts';
import { factList, link } from '../../web/components.ts';
import { choices, onceField, select } from '../../web/fields.ts';
import { emptyAsNone } from '../../web/form-lines.ts';
import type { FormState } from '../../web/forms.ts';
import { type TypeTruth, typesPossible } from '../making.ts';
import { credentialOperations } from '../operations/credentials.ts';
import { newTrapSchema } from '../wire.ts';
import { TYPE_WORDS } from './labels.ts';
import { madeTrapPage } from './made-trap.ts';
import { optionFields, optionsOf } from './options.ts';
import type { TrapPageParts } from './parts.ts';
import { ABOVE_TRAPS, IMPORT_PATH, TRAPS_API } from './paths.ts';
import { expiryField, labelField, placeField, plantingSchema } from './planting.ts';

/** Accepts further fields, which are the options of types: see `optionsOf`. */
const schema = z
  .looseObject({
    once: idempotencyKey,
    credential_type: newTrapSchema.shape.credential_type,
    ...plantingSchema,
    decoy: z.preprocess(emptyAsNone, newTrapSchema.shape.decoy),
  })
  .transform(({ once, credential_type, plant_location, label, decoy, expires_at = null, ...sent }) => {
    const options = optionsOf(credential_type, sent);
    return { once, credential_type, plant_location, label, decoy, expires_at, options };
  });

/** Serves the form for a new trap, and shows the result once. */
export function newTrapPage(server: FastifyInstance, { service, clock }: TrapPageParts): void {
  serveOperationForm(server, credentialOperations(service).generateTrap, {
    path: '/traps/new',
    api: TRAPS_API,
    schema,
    refused: { conflict: 'credential_type' },
    view({ form }) {
      const types = typesPossible(service.places());
      return {
        title: 'Create a trap',
        above: ABOVE_TRAPS,
        introduction:
          'A credential without a legitimate use. A use shows that somebody looked where they have no reason to look.',
        fields: trapFields(types, form),
        submit: 'Create',
        after: [
          markup`<p>${link(IMPORT_PATH, 'Import an AWS key')} to detect its uses in AWS itself.</p>\n`,
          impossible(types),
        ],
      };
    },
    example: () => EXAMPLE,
    done: (made) => madeTrapPage(made, clock()),
  });
}

const EXAMPLE = { credential_type: 'web_bug', plant_location: 'wiki', label: 'Salaries 2026' };

function trapFields(types: readonly TypeTruth[], form: FormState): (Markup | null)[] {
  const possible = types.filter(({ reason }) => reason === null);
  const values = { credential_type: possible[0]?.type ?? '', ...form.values };
  const choice = (truth: TypeTruth) => ({
    value: truth.type,
    label: TYPE_WORDS[truth.type].title,
    hint: `${TYPE_WORDS[truth.type].shows} ${seenBy(truth)}`,
    fields: optionFields(form, truth.type),
  });
  return [
    onceField(form),
    choices({ ...form, values }, { name: 'credential_type', label: 'Type', type: 'radio' }, possible.map(choice)),
    labelField(form),
    placeField(form),
    decoyField(form, possible),
    expiryField(form),
  ];
}

/** Returns a sentence about the decoy that would detect a use. */
function seenBy({ decoys: [first] }: TypeTruth): string {
  return first === undefined
    ? 'The platform itself detects it.'
    : `The decoy “${first.name}” at ${first.host} detects it.`;
}

/** Renders the choice among several decoys that a type may lead to. */
function decoyField(form: FormState, possible: readonly TypeTruth[]): Markup | null {
  const places = new Map(
    possible.filter(({ decoys }) => decoys.length > 1).flatMap(({ decoys }) => decoys.map((each) => [each.name, each])),
  );
  if (places.size === 0) return null;
  return select(form, { name: 'decoy', label: 'Decoy', hint: 'The decoy must match the type.' }, [
    { value: '', label: 'the first match' },
    ...[...places.values()].map(({ name, kind, host }) => ({ value: name, label: `${name} (${kind}, ${host})` })),
  ]);
}

function impossible(types: readonly TypeTruth[]): Markup | null {
  const others = types.filter(({ reason }) => reason !== null);
  if (others.length === 0) return null;
  const facts = others.map(
    ({ type, reason }) =>
      [TYPE_WORDS[type].title, markup`${TYPE_WORDS[type].shows} <span class="minor">${reason}</span>`] as const,
  );
  return markup`<h2>Not available</h2>
${factList(facts)}`;
}
