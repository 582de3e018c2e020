import { requireScope } from '../../http/principal.ts';
import { operationGroup } from '../../operations/operation.ts';
import { endpointOf } from '../host-rows.ts';
import type { EndpointService } from '../service.ts';
import {
  baitListSchema,
  baitParamsSchema,
  baitSchema,
  baitStandsSchema,
  newBaitSchema,
  plantedSchema,
  readsSchema,
  readsTakenSchema,
  sensorBaitParamsSchema,
  standingSchema,
} from '../wire/bait.ts';
import { boundKeySchema, hostParamsSchema, keyBindingSchema, settingsSchema } from '../wire/hosts.ts';

const BAIT = operationGroup('endpoints', 'bait');
const SENSOR = operationGroup('endpoints', 'sensor');

/** Returns the operations on bait for callers who may make traps and control sensors. */
export function baitOperations({ bait }: EndpointService) {
  return {
    plantBait: BAIT.post('/hosts/:endpoint_id/bait', {
      summary: 'Create a trap and have the sensor plant its file; also requires the scope traps:write',
      params: hostParamsSchema,
      body: newBaitSchema,
      status: 201,
      answer: baitSchema,
      refusals: [404, 409],
      work: ({ actor, params, body }, { principal }) => {
        requireScope(principal, 'traps:write');
        return bait.plant(actor, params.endpoint_id, body);
      },
    }),
    listBait: BAIT.get('/hosts/:endpoint_id/bait', {
      summary: 'List the bait of an endpoint and its status',
      params: hostParamsSchema,
      answer: baitListSchema,
      refusals: [404],
      work: ({ params }) => bait.list(params.endpoint_id),
    }),
    removeBait: BAIT.delete('/hosts/:endpoint_id/bait/:bait_id', {
      summary: 'Have the sensor remove a planted file, unless it was replaced; also requires the scope traps:write',
      params: baitParamsSchema,
      answer: baitSchema,
      refusals: [404, 409],
      work: ({ actor, params }, { principal }) => {
        requireScope(principal, 'traps:write');
        return bait.remove(actor, params.endpoint_id, params.bait_id);
      },
    }),
  };
}

/** Returns the operations on bait for the sensor that plants it. */
export function sensorBaitOperations({ baitProtocol }: EndpointService) {
  return {
    confirmBait: SENSOR.post('/sensor/bait/:bait_id/planted', {
      scope: 'endpoints:report',
      summary: 'Report that bait is planted, or why it cannot be',
      params: sensorBaitParamsSchema,
      body: plantedSchema,
      answer: baitStandsSchema,
      refusals: [404],
      work: ({ params, body }, { principal }) => baitProtocol.planted(endpointOf(principal), params.bait_id, body),
    }),
    reportBaitStanding: SENSOR.post('/sensor/bait/:bait_id/standing', {
      scope: 'endpoints:report',
      summary: 'Report that bait was changed or removed',
      params: sensorBaitParamsSchema,
      body: standingSchema,
      answer: baitStandsSchema,
      refusals: [404],
      work: ({ params, body }, { principal }) => baitProtocol.stands(endpointOf(principal), params.bait_id, body),
    }),
    reportBaitReads: SENSOR.post('/sensor/bait/reads', {
      scope: 'endpoints:report',
      summary: 'Report reads of bait; each is recorded as a use of its trap with the depth read',
      body: readsSchema,
      answer: readsTakenSchema,
      work: ({ body }, { principal }) => baitProtocol.reads(endpointOf(principal), body),
    }),
  };
}

/** Returns the operations of the sensor on an endpoint, whose token is bound to the endpoint. */
export function sensorOperations({ sensors }: EndpointService) {
  return {
    getSensorSettings: SENSOR.get('/sensor/settings', {
      scope: 'endpoints:report',
      summary: 'Get the scan settings of this endpoint and the required values of its next report',
      answer: settingsSchema,
      work: (_asked, { principal }) => sensors.settings(endpointOf(principal)),
    }),
    bindSensorKey: SENSOR.post('/sensor/key', {
      scope: 'endpoints:report',
      summary: 'Bind the key that signs the reports of this endpoint; any other key is refused',
      body: keyBindingSchema,
      answer: boundKeySchema,
      refusals: [409],
      work: ({ body }, { principal }) => sensors.bindKey(endpointOf(principal), body),
    }),
  };
}
