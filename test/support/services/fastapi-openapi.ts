/** OpenAPI document that FastAPI generates for the service. */

const bearer = [{ HTTPBearer: [] }];
const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const body = (schema: object) => ({ content: { 'application/json': { schema } } });
const invalid = { description: 'Validation Error', ...body(reference('HTTPValidationError')) };
const responses = (schema: object) => ({
  '200': { description: 'Successful Response', ...body(schema) },
  '422': invalid,
});
const text = (title: string) => ({ type: 'string', title });
const optional = (title: string, schema: object) => ({ anyOf: [schema, { type: 'null' }], title });
const dateTime = (title: string) => ({ type: 'string', format: 'date-time', title });
const integer = (title: string) => ({ type: 'integer', title });
const parameter = (name: string, where: string, schema: object) => ({
  name,
  in: where,
  required: where === 'path',
  schema,
});

const paging = [
  parameter('skip', 'query', { type: 'integer', minimum: 0, default: 0, title: 'Skip' }),
  parameter('limit', 'query', { type: 'integer', maximum: 200, minimum: 1, default: 100, title: 'Limit' }),
];

function operation(operationId: string, summary: string, schema: object, more: object = {}) {
  return { tags: ['audit'], summary, operationId, security: bearer, responses: responses(schema), ...more };
}

function object(title: string, properties: Record<string, object>, required: string[]) {
  return { properties, type: 'object', required, title };
}

function listOf(name: string, title: string) {
  return { type: 'array', items: reference(name), title };
}

const download = (form: string) => ({
  get: operation(
    `download_${form}_evidence__package_id__${form}_get`,
    `Download ${form}`,
    {},
    {
      parameters: [parameter('package_id', 'path', text('Package Id'))],
    },
  ),
});

const paths = {
  '/streams/': {
    get: operation(
      'list_streams_streams__get',
      'List Streams',
      listOf('StreamOut', 'Response List Streams Streams  Get'),
      {
        parameters: paging,
      },
    ),
  },
  '/streams/{stream_id}/verify': {
    post: operation('verify_stream_streams__stream_id__verify_post', 'Verify Stream', reference('VerifyResult'), {
      parameters: [parameter('stream_id', 'path', text('Stream Id'))],
    }),
  },
  '/entries/': {
    get: operation(
      'list_entries_entries__get',
      'List Entries',
      listOf('EntryOut', 'Response List Entries Entries  Get'),
      {
        parameters: [
          parameter('stream_id', 'query', optional('Stream Id', { type: 'string' })),
          parameter('start_date', 'query', optional('Start Date', { type: 'string', format: 'date-time' })),
          parameter('end_date', 'query', optional('End Date', { type: 'string', format: 'date-time' })),
          ...paging,
        ],
      },
    ),
  },
  '/evidence/generate': {
    post: operation('generate_evidence_evidence_generate_post', 'Generate Evidence', reference('EvidenceOut'), {
      requestBody: { ...body(reference('EvidenceRequest')), required: true },
    }),
  },
  '/evidence/{package_id}/json': download('json'),
  '/evidence/{package_id}/pdf': download('pdf'),
  '/evidence/{package_id}/summary': download('summary'),
  '/stats/': { get: operation('stats_stats__get', 'Stats', reference('StatsOut')) },
};

const schemas = {
  EntryOut: object(
    'EntryOut',
    {
      id: text('Id'),
      stream_id: text('Stream Id'),
      seq: integer('Seq'),
      ts: dateTime('Ts'),
      actor: text('Actor'),
      action: text('Action'),
      resource_type: text('Resource Type'),
      resource_id: text('Resource Id'),
      details: optional('Details', { additionalProperties: true, type: 'object' }),
      previous_hash: text('Previous Hash'),
      entry_hash: text('Entry Hash'),
      signature: text('Signature'),
      key_version: text('Key Version'),
    },
    ['id', 'stream_id', 'seq', 'ts', 'actor', 'action', 'previous_hash', 'entry_hash', 'signature', 'key_version'],
  ),
  StreamOut: object(
    'StreamOut',
    {
      id: text('Id'),
      name: text('Name'),
      created_at: dateTime('Created At'),
      total_entries: integer('Total Entries'),
      last_seq: optional('Last Seq', { type: 'integer' }),
      head_hash: optional('Head Hash', { type: 'string' }),
      last_verified_at: optional('Last Verified At', { type: 'string', format: 'date-time' }),
      is_valid: optional('Is Valid', { type: 'boolean' }),
    },
    ['id', 'name', 'created_at', 'total_entries'],
  ),
  EvidenceRequest: object(
    'EvidenceRequest',
    {
      stream_id: text('Stream Id'),
      start_date: optional('Start Date', { type: 'string', format: 'date-time' }),
      end_date: optional('End Date', { type: 'string', format: 'date-time' }),
      title: optional('Title', { type: 'string' }),
    },
    ['stream_id'],
  ),
  EvidenceOut: object(
    'EvidenceOut',
    {
      id: text('Id'),
      status: { type: 'string', enum: ['pending', 'completed', 'failed'], title: 'Status' },
      stream_id: text('Stream Id'),
      title: optional('Title', { type: 'string' }),
      total_entries: integer('Total Entries'),
      created_at: dateTime('Created At'),
    },
    ['id', 'status', 'stream_id', 'created_at'],
  ),
  VerifyResult: object(
    'VerifyResult',
    {
      stream_id: text('Stream Id'),
      is_valid: { type: 'boolean', title: 'Is Valid' },
      verified_at: dateTime('Verified At'),
      entries_checked: integer('Entries Checked'),
      errors: listOf('VerifyError', 'Errors'),
    },
    ['stream_id', 'is_valid', 'verified_at', 'entries_checked', 'errors'],
  ),
  VerifyError: object('VerifyError', { seq: integer('Seq'), error: text('Error') }, ['seq', 'error']),
  StatsOut: object(
    'StatsOut',
    {
      total_streams: integer('Total Streams'),
      total_entries: integer('Total Entries'),
      evidence_packages: integer('Evidence Packages'),
    },
    ['total_streams', 'total_entries', 'evidence_packages'],
  ),
  HTTPValidationError: {
    properties: { detail: listOf('ValidationError', 'Detail') },
    type: 'object',
    title: 'HTTPValidationError',
  },
  ValidationError: object(
    'ValidationError',
    {
      loc: { items: { anyOf: [{ type: 'string' }, { type: 'integer' }] }, type: 'array', title: 'Location' },
      msg: text('Message'),
      type: text('Error Type'),
    },
    ['loc', 'msg', 'type'],
  ),
};

export const openApi = {
  openapi: '3.1.0',
  info: { title: 'Audit Chain', version: '2.4.1' },
  paths,
  components: { schemas, securitySchemes: { HTTPBearer: { type: 'http', scheme: 'bearer' } } },
};
