import type { Description } from '../profile/description.ts';
import { DEFAULT_SUPPLEMENTS } from './default-supplements.ts';
import { openContract } from './reading.ts';

/** Default contract: the wire format of the audit service, described like any other. */
export const DEFAULT_DESCRIPTION: Description = {
  format: 'evidence-contract/1',
  name: 'default',
  numbers: 'number',
  streams: {
    path: '/streams/',
    items: 'data',
    paging: { style: 'cursor', next: 'next_cursor', absent_at_end: false, parameter: 'cursor' },
    limit: { parameter: 'limit', size: 500 },
    fields: {
      stream_id: 'stream_id',
      entry_count: 'entry_count',
      head_sequence: 'head_sequence',
      head_digest: 'head_hash',
      verified: 'verified',
      last_checked_at: 'last_checked_at',
    },
  },
  entries: {
    path: '/entries/',
    items: 'data',
    paging: { style: 'cursor', next: 'next_cursor', absent_at_end: false, parameter: 'cursor' },
    limit: { parameter: 'limit', size: 500 },
    stream_parameter: 'stream_id',
    from_parameter: 'from',
    to_parameter: 'to',
    after_parameter: 'after_sequence',
    order: 'ascending',
  },
  verify: {
    path: '/streams/{stream_id}/verify',
    body: {},
    fields: {
      verified: 'verified',
      checked_at: 'checked_at',
      failures: 'failures',
      failure_sequence: 'sequence',
    },
  },
  generate: {
    path: '/evidence/generate',
    body: { stream_id: '{stream_id}', from: '{from}', to: '{to}' },
    idempotency_header: 'idempotency-key',
    scope: 'stream',
    fields: { package_id: 'package_id', stream_id: 'stream_id', entry_count: 'entry_count' },
    ready: {
      when: 'status-says',
      path: '/evidence/{package_id}',
      field: 'status',
      ready: ['ready'],
      pending: ['pending'],
    },
  },
  downloads: {
    json: '/evidence/{package_id}/json',
    pdf: '/evidence/{package_id}/pdf',
    summary: '/evidence/{package_id}/summary',
  },
  package: {
    entries: 'entries',
    format: { field: 'format', is: 'evidence-package/1' },
    fields: {
      package_id: 'package_id',
      stream_id: 'stream.stream_id',
      entry_count: 'entry_count',
      first_sequence: 'first_sequence',
      last_sequence: 'last_sequence',
      head_digest: 'head_hash',
      generated_at: 'generated_at',
    },
    checkpoints: {
      items: 'checkpoints',
      stream_id: 'stream_id',
      sequence: 'sequence',
      digest: 'hash',
      token: 'anchor.token',
      token_encoding: 'base64',
    },
  },
  summary: {
    package_id: 'package_id',
    stream_id: 'stream_id',
    entry_count: 'entry_count',
    head_digest: 'head_hash',
    actions: 'counts.actions',
  },
  entry: {
    stream_id: 'stream_id',
    sequence: 'sequence',
    first_sequence: 1,
    entry_id: 'entry_id',
    timestamp: 'timestamp',
    timestamp_unit: 'text',
    occurred_at: 'occurred_at',
    previous: 'prev_hash',
    digest: 'hash',
    actor: 'actor',
    action: 'action',
    resource: ['resource_type', 'resource_id'],
  },
  digest: {
    encoding: 'hex',
    prefix: '',
    genesis: 'zeros',
    recipe: {
      algorithm: 'sha-256',
      key: null,
      preimage: [{ json: { form: 'rfc8785', without: ['hash', 'seal'] } }],
    },
  },
  seal: {
    field: 'seal',
    key: { field: 'seal_key_id' },
    algorithm: 'hmac-sha-256',
    encoding: 'hex',
    over: 'digest-text',
  },
  supplements: DEFAULT_SUPPLEMENTS,
};

export const defaultContract = openContract(DEFAULT_DESCRIPTION);
