import { z } from 'zod';

/**
 * Schema of the OSCAL 1.2.1 assessment results that we write, from the standard's model reference. It requires
 * everything that the standard requires.
 */

const uuid = z.string().regex(/^[0-9a-f]{8}-[0-9a-f]{4}-[45][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
const string = z.string().regex(/^\S(.*\S)?$/);
const token = z.string().regex(/^(\p{L}|_)(\p{L}|\p{N}|[.\-_])*$/u);
const line = z.string().regex(/^[^\n]+$/);
const dateTime = z.iso.datetime();

const property = z.strictObject({ name: token, ns: z.url().optional(), value: string });
const subject = z.strictObject({ 'subject-uuid': uuid, type: z.literal('resource'), title: line });

const observation = z.strictObject({
  uuid,
  title: line,
  description: z.string().min(1),
  props: z.array(property).min(1).optional(),
  methods: z.array(z.enum(['EXAMINE', 'INTERVIEW', 'TEST', 'UNKNOWN'])).min(1),
  types: z.array(token).min(1).optional(),
  origins: z
    .array(z.strictObject({ actors: z.array(z.strictObject({ type: z.literal('tool'), 'actor-uuid': uuid })).min(1) }))
    .min(1),
  subjects: z.array(subject).min(1),
  'relevant-evidence': z
    .array(z.strictObject({ href: string, description: z.string().min(1) }))
    .min(1)
    .optional(),
  collected: dateTime,
});

const component = z.strictObject({
  uuid,
  type: string,
  title: line,
  description: z.string().min(1),
  props: z.array(property).min(1),
  status: z.strictObject({ state: z.enum(['under-development', 'operational', 'disposition', 'other']) }),
});

const selection = z.strictObject({
  description: z.string().min(1),
  'include-controls': z.array(z.strictObject({ 'control-id': token })).min(1),
});

const result = z.strictObject({
  uuid,
  title: line,
  description: z.string().min(1),
  start: dateTime,
  end: dateTime,
  props: z.array(property).min(1),
  'local-definitions': z.strictObject({ components: z.array(component).min(1) }),
  'reviewed-controls': z.strictObject({ 'control-selections': z.array(selection).min(1) }),
  observations: z.array(observation).min(1).optional(),
});

const rlink = z.strictObject({
  href: string,
  'media-type': string.optional(),
  hashes: z
    .array(z.strictObject({ algorithm: string, value: z.string().regex(/^[0-9a-f]{64}$/) }))
    .min(1)
    .optional(),
});

export const assessmentResultsSchema = z.strictObject({
  'assessment-results': z.strictObject({
    uuid,
    metadata: z.strictObject({
      title: line,
      'last-modified': dateTime,
      version: string,
      'oscal-version': z.literal('1.2.1'),
      props: z.array(property).min(1),
      parties: z.array(z.strictObject({ uuid, type: z.enum(['person', 'organization']), name: string })).optional(),
    }),
    'import-ap': z.strictObject({ href: string }),
    results: z.array(result).min(1),
    'back-matter': z.strictObject({
      resources: z.array(
        z.strictObject({
          uuid,
          title: line,
          description: z.string().min(1),
          rlinks: z.array(rlink).min(1).optional(),
        }),
      ),
    }),
  }),
});
