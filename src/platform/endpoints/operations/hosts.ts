import { pageSchema } from '../../http/wire.ts';
import { operationGroup } from '../../operations/operation.ts';
import type { EndpointService } from '../service.ts';
import {
  enrolledSchema,
  enrolmentSchema,
  hostParamsSchema,
  hostQuerySchema,
  hostSchema,
  reasonSchema,
} from '../wire/hosts.ts';
import { endpointStatsSchema, endpointVerificationSchema, scanQuerySchema, scanSchema } from '../wire/reports.ts';

const HOSTS = operationGroup('endpoints', 'hosts');

export function hostOperations({ hosts }: EndpointService) {
  const act = (name: 'isolate' | 'release' | 'restart' | 'retire', summary: string) =>
    HOSTS.post(`/hosts/:endpoint_id/${name}`, {
      summary,
      params: hostParamsSchema,
      body: reasonSchema,
      answer: hostSchema,
      refusals: [404, 409],
      work: ({ actor, params, body }) => hosts[name](actor, params.endpoint_id, body),
    });
  return {
    enrollEndpoint: HOSTS.post('/enroll', {
      summary: 'Enroll an endpoint; returns its token only once, and registers no baseline',
      body: enrolmentSchema,
      isKeyed: true,
      status: 201,
      answer: enrolledSchema,
      refusals: [409],
      work: ({ actor, body, key }) => hosts.enroll(actor, body, key),
    }),
    listHosts: HOSTS.get('/hosts/', {
      summary: 'List endpoints, newest first',
      query: hostQuerySchema,
      answer: pageSchema(hostSchema),
      work: ({ query }) => hosts.list(query),
    }),
    getHost: HOSTS.get('/hosts/:endpoint_id', {
      summary: 'Get the state and the last report of an endpoint',
      params: hostParamsSchema,
      answer: hostSchema,
      refusals: [404],
      work: ({ params }) => hosts.find(params.endpoint_id),
    }),
    isolateHost: act('isolate', 'Label an endpoint as isolated; this does not disconnect it from the network'),
    releaseHost: act('release', 'Remove the isolation label'),
    restartHost: act('restart', 'Let an endpoint start a new chain of reports with a new key'),
    retireHost: act('retire', 'Retire an endpoint: revoke its token and stop expecting its reports'),
  };
}

export function scanOperations({ reports, verifying, stats }: EndpointService) {
  return {
    verifyHost: HOSTS.post('/hosts/:endpoint_id/verify', {
      scope: 'endpoints:read',
      summary: 'Verify the reports of an endpoint against their signatures, their lines and the audit stream',
      params: hostParamsSchema,
      answer: endpointVerificationSchema,
      refusals: [404],
      work: ({ params }) => verifying.verify(params.endpoint_id),
    }),
    listScans: HOSTS.get('/scans/', {
      summary: 'List reported scans, newest first',
      query: scanQuerySchema,
      answer: pageSchema(scanSchema),
      work: ({ query }) => reports.list(query),
    }),
    getEndpointStats: HOSTS.get('/stats/', {
      summary: 'Count endpoints and their open events',
      answer: endpointStatsSchema,
      work: () => stats(),
    }),
  };
}
