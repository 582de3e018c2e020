import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { type Markup, markup, name } from '../../../core/html/markup.ts';
import { SENSOR_FILE } from '../../../core/install-paths.ts';
import { shellWord } from '../../../core/shell.ts';
import { idempotencyKey } from '../../http/fields.ts';
import { serveOperationForm } from '../../operations/form.ts';
import { copyable, link } from '../../web/components.ts';
import { field, onceField, select, textArea } from '../../web/fields.ts';
import { linesOfField } from '../../web/form-lines.ts';
import type { FormState } from '../../web/forms.ts';
import type { PageView } from '../../web/layout.ts';
import { apiOrigin } from '../../web/origin.ts';
import { DEFAULT_ROOTS } from '../enums.ts';
import { hostOperations } from '../operations/hosts.ts';
import { type enrolledSchema, enrolmentSchema, shortName } from '../wire/hosts.ts';
import { CHANGES_ENDPOINTS, type EndpointPageParts } from './parts.ts';
import { ABOVE_ENDPOINTS, ENDPOINTS_API, hostPath } from './paths.ts';

/** Enrollment creates a key, so it requires a fresh authentication. */
const ENROLLING = { ...CHANGES_ENDPOINTS, proved: true } as const;

const INTERVALS = [
  { value: '900', label: '15 minutes' },
  { value: '3600', label: '1 hour' },
  { value: '21600', label: '6 hours' },
  { value: '86400', label: '1 day' },
];

const pathsOf = (given: unknown) => {
  const paths = linesOfField(given);
  return paths.length === 0 ? undefined : paths;
};

const { roots, other_filesystems, scan_interval_seconds } = enrolmentSchema.shape;
const seconds = scan_interval_seconds.unwrap();

const schema = z.object({
  once: idempotencyKey,
  name: z.string().trim().min(1, 'Say what the machine is called').pipe(shortName),
  scan_interval_seconds: z.coerce.number().pipe(seconds),
  roots: z.preprocess(pathsOf, roots),
  other_filesystems: z.preprocess(pathsOf, other_filesystems),
});

/** Serves the form for a new endpoint, and shows the token once. */
export function enrolPage(server: FastifyInstance, { service }: EndpointPageParts): void {
  serveOperationForm(server, hostOperations(service).enrollEndpoint, {
    path: '/endpoints/enroll',
    api: ENDPOINTS_API,
    access: ENROLLING,
    schema,
    view: ({ form }) => ({
      title: 'Enrol an endpoint',
      above: ABOVE_ENDPOINTS,
      introduction:
        'A machine whose binaries a sensor reads. Enrolment registers no baseline: until somebody has approved one, scans are kept and raise no event.',
      fields: enrolmentFields(form),
      submit: 'Enrol it',
    }),
    example: () => ({ name: 'web-1' }),
    done: (enrolled, _subject, request) => enrolledPage(enrolled, request),
  });
}

function enrolmentFields(form: FormState): Markup[] {
  const defaults = `One folder a line. Where nothing is said: ${DEFAULT_ROOTS.join(' ')}`;
  const mounted = 'Mounted below these folders, and to be read too. One a line.';
  const others = { name: 'other_filesystems', label: 'Other file systems', isOptional: true, hint: mounted };
  const hint = 'As people call the machine.';
  return [
    onceField(form),
    field(form, { name: 'name', label: 'Name', autocomplete: 'off', isFirst: true, hint }),
    select(form, { name: 'scan_interval_seconds', label: 'Scan every', value: '3600' }, INTERVALS),
    textArea(form, { name: 'roots', label: 'Folders', hint: defaults, isOptional: true }, 4),
    textArea(form, others, 2),
  ];
}

const TOKEN_FILE = '/etc/evidence/endpoint-token';
const UNIT = 'evidence-sensor-loop.service';

/** Returns the commands that store a token and start a sensor, by hand or with systemd. */
export function sensorCommands(request: FastifyRequest): Record<'keep' | 'copy' | 'start' | 'systemd', string> {
  const url = `${apiOrigin(request)}/endpoints`;
  const setting = 'Environment=EVIDENCE_ENDPOINT_URL=';
  return {
    keep: `sudo install -d /etc/evidence\nsudo sh -c 'umask 077; cat > ${TOKEN_FILE}'`,
    copy: 'evidence-platform deploy sensor --out deploy\nscp -r deploy root@MACHINE:',
    start: `sudo cp deploy/evidence-sensor.mjs ${SENSOR_FILE}\nsudo node ${SENSOR_FILE} --url ${shellWord(url)} --endpoint-token-file ${TOKEN_FILE}`,
    systemd: [
      `sed -i ${shellWord(`s|^${setting}.*|${setting}${url}|`)} deploy/${UNIT}`,
      `sudo cp deploy/${UNIT} /etc/systemd/system/`,
      `sudo systemctl enable --now ${UNIT}`,
    ].join('\n'),
  };
}

function enrolledPage(enrolled: z.input<typeof enrolledSchema>, request: FastifyRequest): PageView {
  const { endpoint_id, name: hostName, endpoint_token, message } = enrolled;
  const { keep, copy, start, systemd } = sensorCommands(request);
  return {
    title: 'The new endpoint',
    above: [...ABOVE_ENDPOINTS, { title: hostName, path: hostPath(endpoint_id) }],
    introduction: markup`${name(hostName)} is enrolled. Its token is shown this once: nobody can show it again, not even this platform.`,
    content: markup`<div class="secret">${copyable('token', 'The token of the endpoint', endpoint_token)}</div>
<p class="minor">Whoever has it can report for this endpoint, and can do nothing else.</p>
<h2>What to do next</h2>
<ol class="steps">
<li><p>On the machine, keep the token where only root reads it. Paste it, then press Return and Ctrl-D:</p>${copyable('keep', 'Keep the token', keep)}</li>
<li><p>Where this platform is installed, write the sensor, which is one file, and copy it to the machine:</p>${copyable('copy', 'Copy the sensor', copy)}</li>
<li><p>On the machine, start the sensor by hand to see that it reports. It scans at once, and again and again until you end it:</p>${copyable('start', 'Start the sensor', start)}</li>
<li><p>For good, have systemd start it:</p>${copyable('systemd', 'Have systemd start the sensor', systemd)}</li>
<li><p>${message} Once it has reported, propose its scan on ${link(hostPath(endpoint_id), 'the page of the endpoint')}.</p></li>
</ol>
<p class="further">${link(hostPath(endpoint_id), 'I have kept it')}</p>`,
  };
}
