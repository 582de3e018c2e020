import type { EndpointLine } from '../../../../src/sensor/report/line.ts';
import type { Service } from '../../service.ts';
import { ENDPOINTS, enrol, type HttpSensor } from '../http-sensor.ts';
import { file, link } from '../sensor-double.ts';

/** A name that reverses the text around it, closes elements, controls terminals and breaks lines. */
export const HOSTILE = `/usr/bin/</a><script>alert("1")</script>'&\u202e\u001b[2J\nx`;
/** `/usr/bin/` and two bytes that are invalid in UTF-8. */
export const NOT_UTF8 = Buffer.from('2f7573722f62696e2ffffe', 'hex').toString('base64');

export const SUDO = file('/usr/bin/sudo', 'sudo 1', { mode: '4755' });
export const TOOL = file('/usr/bin/tool', 'tool 1');

/** Sorts lines by the bytes of their paths, as sensors do. */
export function inOrder(lines: readonly EndpointLine[]): EndpointLine[] {
  const bytes = ({ path, path_base64 }: EndpointLine) =>
    path === undefined ? Buffer.from(path_base64, 'base64') : Buffer.from(path);
  return [...lines].sort((one, other) => bytes(one).compare(bytes(other)));
}

/** Enrolls an endpoint with a registered baseline, which it has reported once. */
export async function watched(service: Service, name: string, lines: readonly EndpointLine[]): Promise<HttpSensor> {
  const sensor = await enrol(service, { name });
  const baseline = { name: 'first', roots: ['/usr/bin'], lines: inOrder(lines), complete: true };
  const { status, text } = await service.call('POST', `${ENDPOINTS}/baselines/register`, {
    endpoint_id: sensor.id,
    ...baseline,
  });
  if (status !== 201) throw new Error(text);
  await reported(sensor, lines);
  return sensor;
}

/** Proposes the last scan of an endpoint as its baseline. */
export async function propose(service: Service, { id }: HttpSensor, name: string) {
  const input = { from: 'latest_scan', name, reason: 'a new machine' };
  const { status, text, body } = await service.call('POST', `${ENDPOINTS}/hosts/${id}/baselines`, input);
  if (status !== 201) throw new Error(text);
  return body;
}

/** Sends a report, and returns the answer. */
export async function reported(sensor: HttpSensor, lines: readonly EndpointLine[]) {
  const { status, text, body } = await sensor.report(inOrder(lines));
  if (status !== 201) throw new Error(text);
  return body;
}

/** Returns an endpoint's events by path; events about its reports by type. */
export async function eventsOf(service: Service, { id }: HttpSensor) {
  const { data } = (await service.call('GET', `${ENDPOINTS}/events/?endpoint_id=${id}&limit=500`)).body;
  type Event = { event_id: string; event_type: string; path: string | null; path_base64: string | null };
  return new Map<string, Event & Record<string, unknown>>(
    data.map((event: Event) => [event.path ?? event.path_base64 ?? event.event_type, event]),
  );
}

/** Files for every kind of finding about paths, on one endpoint. */
export const BEFORE: readonly EndpointLine[] = [SUDO, TOOL, file('/usr/bin/gone'), file('/usr/bin/replaced')];
export const AFTER: readonly EndpointLine[] = [
  file('/usr/bin/sudo', 'sudo 2', { mode: '4755' }),
  file('/usr/bin/tool', 'tool 1', { mode: '0777' }),
  link('/usr/bin/replaced', '/tmp/evil\nlink'),
  file(HOSTILE, 'hostile'),
  { ...file('/usr/bin/x', 'bytes'), path: undefined, path_base64: NOT_UTF8 } as unknown as EndpointLine,
  { path: '/usr/bin/secret', type: 'unreadable', why: 'EACCES', mode: '0700', uid: 0, gid: 0 },
];
