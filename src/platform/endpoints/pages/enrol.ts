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
  name: z.string().trim().min(1, 'Enter a name').pipe(shortName),
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
      title: 'Enroll an endpoint',
      above: ABOVE_ENDPOINTS,
      introduction:
        'An endpoint is a machine whose binaries a sensor scans. Enrollment registers no baseline: until one is approved, scans are stored but raise no events.',
      fields: enrolmentFields(form),
      submit: 'Enroll',
    }),
    example: () => ({ name: 'web-1' }),
    done: (enrolled, _subject, request) => enrolledPage(enrolled, request),
  });
}

function enrolmentFields(form: FormState): Markup[] {
  const defaults = `One folder per line. Default: ${DEFAULT_ROOTS.join(' ')}`;
  const mounted = 'Other file systems below these folders to scan, too. One per line.';
  const others = { name: 'other_filesystems', label: 'Other file systems', isOptional: true, hint: mounted };
  const hint = 'A name that people know.';
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
    title: 'New endpoint',
    above: [...ABOVE_ENDPOINTS, { title: hostName, path: hostPath(endpoint_id) }],
    introduction: markup`${name(hostName)} is enrolled. Its token is shown only once: not even this platform can show it again.`,
    content: markup`<div class="secret">${copyable('token', 'Token of the endpoint', endpoint_token)}</div>
<p class="minor">Anyone with the token can report for this endpoint, and nothing else.</p>
<h2>Next steps</h2>
<ol class="steps">
<li><p>On the machine, store the token where only root can read it. Paste it, then press Return and Ctrl-D:</p>${copyable('keep', 'Store the token', keep)}</li>
<li><p>Where this platform is installed, write the sensor to a folder, and copy the folder to the machine:</p>${copyable('copy', 'Copy the sensor', copy)}</li>
<li><p>On the machine, start the sensor to check that it reports. It scans at once, and then regularly until you stop it:</p>${copyable('start', 'Start the sensor', start)}</li>
<li><p>To keep it running, start it with systemd:</p>${copyable('systemd', 'Start the sensor with systemd', systemd)}</li>
<li><p>${message} After its first report, propose the scan as a baseline on ${link(hostPath(endpoint_id), "the endpoint's page")}.</p></li>
</ol>
<p class="further">${link(hostPath(endpoint_id), 'I have stored it')}</p>`,
  };
}
