import { operation } from '../../operations/operation.ts';
import { endpointOf } from '../host-rows.ts';
import type { EndpointService } from '../service.ts';
import { boundKeySchema, keyBindingSchema, settingsSchema } from '../wire/hosts.ts';

/** Returns the operations of the sensor on an endpoint, which has one token that is bound to it. */
export function sensorOperations({ sensors }: EndpointService) {
  return {
    getSensorSettings: operation({
      method: 'GET',
      path: '/sensor/settings',
      scope: 'endpoints:report',
      tag: 'sensor',
      summary: 'Get what this endpoint is to scan, and what its next report has to say',
      answer: settingsSchema,
      work: (_asked, { principal }) => sensors.settings(endpointOf(principal)),
    }),
    bindSensorKey: operation({
      method: 'POST',
      path: '/sensor/key',
      scope: 'endpoints:report',
      tag: 'sensor',
      summary: 'Bind the key that signs the reports of this endpoint; another one is refused',
      body: keyBindingSchema,
      answer: boundKeySchema,
      refusals: [409],
      work: ({ body }, { principal }) => sensors.bindKey(endpointOf(principal), body),
    }),
  };
}
