import type { SupplementsDescription } from '../profile/supplements.ts';

type Records = NonNullable<SupplementsDescription['traps']>['detections'];

const LIST: Pick<Records, 'items' | 'paging' | 'limit'> = {
  items: 'data',
  paging: { style: 'cursor', next: 'next_cursor', absent_at_end: false, parameter: 'cursor' },
  limit: { parameter: 'limit', size: 500 },
};
const OF_PERIOD: Pick<Records, 'from_parameter' | 'to_parameter'> = { from_parameter: 'from', to_parameter: 'to' };
const same = (...names: string[]) => Object.fromEntries(names.map((name) => [name, name]));
const inMetadata = (...names: string[]) => Object.fromEntries(names.map((name) => [name, `metadata.${name}`]));

const SEEN = ['status', 'acknowledged_by', 'acknowledged_at'];
const REACH = ['depth', 'severity', 'auth_verified'];
const SOURCE = ['channel', 'source_event_id', 'source_ip', 'user_agent', 'service', 'region'];
const REQUESTED = { action: 'metadata.requested' };
/** Describes a later entry of a detection; members are in the order of the contract file. */
const ofTrap = (action: string, may_say: Record<string, string>, was: Record<string, string> = {}) => {
  return { is: { action }, within: null, id: 'metadata.detection_id', may_say, was };
};
const OUTCOME = { 'outcome.outcome': 'metadata.outcome', 'outcome.reported_at': 'metadata.reported_at' };
/** Maximum difference between the times of a record and of its entry, which a service writes in one transaction. */
const TIME_WITHIN_SECONDS = 300;
const STATED = [...SEEN, 'severity', 'explanation.kind', 'resolved_at'];
const IN_EVENTS = { within: 'metadata.events', id: 'event_id', may_say: same(...STATED), was: {} };

const ENTRY = { stream_id: 'entry.stream_id', sequence: 'entry.sequence', digest: 'entry.hash' };

/** Records that the platform's other services show in addition to the audit evidence. */
// Over 40 lines: one table.
export const DEFAULT_SUPPLEMENTS: SupplementsDescription = {
  audit: { statistics: '/stats/' },
  traps: {
    statistics: '/stats/',
    detections: {
      path: '/detections/',
      ...LIST,
      ...OF_PERIOD,
      id: 'detection_id',
      time: 'detected_at',
      entry: {
        stream: 'traps',
        ...ENTRY,
        is: { action: 'trap.used', resource_type: 'trap' },
        within: null,
        says: {
          detection_id: 'metadata.detection_id',
          credential_id: 'resource_id',
          credential_type: 'metadata.credential_type',
          plant_location: 'metadata.plant_location',
          label: 'metadata.label',
        },
        may_say: {
          ...inMetadata('detected_at', 'event_time', 'request_sha256', ...SEEN, ...REACH, ...SOURCE),
          ...REQUESTED,
        },
        time_within_seconds: TIME_WITHIN_SECONDS,
        later: [
          ofTrap('trap.used_deeper', { ...inMetadata(...REACH), ...REQUESTED }),
          ofTrap(
            'trap.use_traced',
            { ...inMetadata(...REACH, ...SOURCE, 'event_time', 'request_sha256'), ...REQUESTED },
            // A use reported without a name is reported again with one.
            { channel: 'aws_last_used' },
          ),
          ofTrap('trap.use_ended', inMetadata('depth', 'severity')),
          ...['acknowledged', 'archived', 'reopened'].map((action) => ({
            is: { action: `detection.${action}`, resource_type: 'detection' },
            within: null,
            id: 'resource_id',
            may_say: inMetadata(...SEEN),
            was: {},
          })),
        ],
        rises: {
          depth: ['exposed', 'read', 'validated', 'used'],
          severity: ['low', 'medium', 'high', 'critical'],
        },
      },
      csv: [
        ...['detection_id', 'detected_at', 'event_time', 'credential_id', 'credential_type', 'plant_location', 'label'],
        ...['depth', 'severity', 'channel', 'action', 'service', 'source_ip', 'user_agent', 'auth_verified'],
        ...['occurrences', 'first_seen', 'last_seen', 'status', 'acknowledged_by', 'acknowledged_at'],
      ],
    },
  },
  endpoints: {
    statistics: '/stats/',
    events: {
      path: '/events/',
      ...LIST,
      ...OF_PERIOD,
      id: 'event_id',
      time: 'first_seen',
      entry: {
        stream: 'endpoints/{endpoint_id}',
        ...ENTRY,
        is: { action: 'events.raised' },
        within: 'metadata.events',
        says: {
          event_id: 'event_id',
          event_type: 'event_type',
          path: 'path',
          path_base64: 'path_base64',
          expected_sha256: 'expected_sha256',
          observed_sha256: 'observed_sha256',
        },
        may_say: same('first_seen', ...STATED),
        time_within_seconds: TIME_WITHIN_SECONDS,
        later: [
          ...['resolved', 'explained', 'decided'].map((action) => ({
            is: { action: `events.${action}` },
            ...IN_EVENTS,
          })),
          ...['acknowledged', 'reopened'].map((action) => ({
            is: { action: `event.${action}`, resource_type: 'event' },
            within: null,
            id: 'resource_id',
            may_say: inMetadata(...STATED),
            was: {},
          })),
        ],
        rises: {},
      },
      csv: [
        ...['event_id', 'first_seen', 'last_seen', 'endpoint_id', 'endpoint_name', 'event_type', 'severity', 'path'],
        ...['path_base64', 'expected_sha256', 'observed_sha256', 'explanation.kind', 'status', 'occurrences'],
        ...['acknowledged_by', 'acknowledged_at', 'resolved_at', 'scan_id', 'baseline_id'],
      ],
    },
    scans: {
      path: '/scans/',
      ...LIST,
      ...OF_PERIOD,
      id: 'scan_id',
      time: 'received_at',
      entry: {
        stream: 'endpoints/{endpoint_id}',
        ...ENTRY,
        is: { action: 'report.accepted', resource_type: 'report' },
        within: null,
        says: {
          scan_id: 'resource_id',
          report_sha256: 'metadata.report_sha256',
          chain: 'metadata.chain',
          sequence: 'metadata.sequence',
          root_hash: 'metadata.root_hash',
          line_count: 'metadata.line_count',
          complete: 'metadata.complete',
        },
        may_say: inMetadata('received_at', 'started_at', 'finished_at', 'events.raised', 'events.resolved'),
        time_within_seconds: TIME_WITHIN_SECONDS,
        later: [],
        rises: {},
      },
      csv: [
        ...['scan_id', 'received_at', 'endpoint_id', 'chain', 'sequence', 'report_sha256', 'started_at', 'finished_at'],
        ...['complete', 'line_count', 'root_hash', 'baseline_id', 'events.open', 'events.raised', 'events.resolved'],
      ],
    },
  },
  agents: {
    statistics: '/stats/',
    agents: { path: '/agents/', ...LIST, id: 'agent_id', stream_id: 'audit_stream.stream_id' },
    verifications: {
      path: '/public/verify-agent/{agent_id}',
      id: 'agent_id',
      time: null,
      entry: null,
      csv: [
        ...['agent_id', 'checked_at', 'valid', 'status', 'tier', 'identity.did', 'certificate.serial'],
        ...['certificate.status', 'certificate.not_after', 'certificate.pq.serial', 'certificate.pq.status'],
        ...['passport.jti', 'passport.status', 'passport.issued_at', 'passport.not_after'],
      ],
    },
    actions: {
      path: '/agents/{agent_id}/actions',
      ...LIST,
      ...OF_PERIOD,
      id: 'action_id',
      time: 'received_at',
      entry: {
        stream: 'agents/{agent_id}',
        ...ENTRY,
        is: { action: 'action.logged', resource_type: 'action' },
        within: null,
        says: {
          action_id: 'resource_id',
          action_type: 'metadata.action_type',
          action_description: 'metadata.action_description',
          tool_used: 'metadata.tool_used',
          api_called: 'metadata.api_called',
          input_hash: 'metadata.input_hash',
          output_hash: 'metadata.output_hash',
          model: 'metadata.model',
          version: 'metadata.version',
          decision: 'metadata.decision',
          attested: 'metadata.attested',
        },
        may_say: {
          ...inMetadata('received_at', 'reported_by', 'trust.before', 'trust.after', 'trust.tier'),
          ...OUTCOME,
        },
        time_within_seconds: TIME_WITHIN_SECONDS,
        later: [
          {
            is: { action: 'action.outcome', resource_type: 'action' },
            within: null,
            id: 'resource_id',
            may_say: OUTCOME,
            was: {},
          },
        ],
        rises: {},
      },
      csv: [
        ...['action_id', 'received_at', 'agent_id', 'decision', 'attested', 'action_type', 'action_description'],
        ...['tool_used', 'api_called', 'input_hash', 'output_hash', 'model', 'version', 'reported_by'],
        ...['trust.before', 'trust.after', 'trust.tier', 'outcome.outcome', 'outcome.reported_at'],
      ],
    },
  },
};
