import type { Description } from '../../src/verifier/profile/description.ts';
import type { DigestDescription, JsonForm, PreimagePart } from '../../src/verifier/profile/digest-description.ts';
import { DEFAULT_DESCRIPTION } from '../../src/verifier/reading/default-contract.ts';

interface Changes {
  preimage: PreimagePart[];
  digest?: Partial<Omit<DigestDescription, 'recipe'>>;
  algorithm?: NonNullable<DigestDescription['recipe']>['algorithm'];
  key?: { id: string } | { field: string };
  entry?: Partial<Description['entry']>;
  numbers?: Description['numbers'];
}

/** A dialect of `vendor-dialects.py` as a contract, with the members that its digests do not cover. */
export type Dialect = [name: string, changes: Changes, unhashed: string[]];

export function describeDialect(name: string, changes: Changes): Description {
  const { preimage, digest, algorithm = 'sha-256', key = null, entry, numbers = 'number' } = changes;
  const recipe = { algorithm, key, preimage };
  return {
    ...DEFAULT_DESCRIPTION,
    name,
    numbers,
    entry: {
      stream_id: 'stream',
      sequence: 'seq',
      first_sequence: 1,
      entry_id: 'id',
      timestamp: 'at',
      timestamp_unit: 'text',
      previous: 'prev',
      digest: 'hash',
      ...entry,
    },
    digest: { encoding: 'hex', prefix: '', genesis: 'zeros', ...digest, recipe },
    seal: null,
  };
}

type Members = { without?: string[]; fields?: string[]; of?: string };
const jcs = (more: Members = { without: ['hash'] }): PreimagePart => ({ json: { form: 'rfc8785', ...more } });
const asSent = (more: { without?: string[]; of?: string }): PreimagePart => ({ json: { form: 'as-sent', ...more } });
const join = (separator: string, fields: string[], null_as = ''): PreimagePart => ({
  join: { separator, fields, null_as },
});
const text = (words: string): PreimagePart => ({ text: words });

type PythonForm = Extract<JsonForm, { form: 'python' }>;
const python = (words: string, more: Members = { without: ['hash'] }): PreimagePart => {
  const options = words.split(' ');
  const form: PythonForm = {
    form: 'python',
    separators: options.includes('compact') ? 'compact' : 'spaced',
    ascii: options.includes('ascii'),
    sort_keys: options.includes('sorted'),
  };
  return { json: { ...form, ...more } };
};

const BOTH = { without: ['hash', 'prev'] };
const SIMPLE: PreimagePart[] = ['previous', jcs()];
const LOOSE = ['amount', 'big', 'note', 'paid'].map((field) => `the type of ${field}`);

export const DIALECTS: Dialect[] = [
  ['rfc8785', { preimage: [jcs()] }, []],
  ['previous before', { preimage: ['previous', python('ascii sorted', BOTH)] }, []],
  ['previous after', { preimage: [python('compact', BOTH), 'previous'] }, []],
  ['previous inside', { preimage: [python('compact ascii')] }, []],
  ['previous bytes', { preimage: ['previous-bytes', python('sorted', BOTH)] }, []],
  ['previous bytes, nothing', { preimage: ['previous-bytes', python('ascii', BOTH)], digest: { genesis: 'null' } }, []],
  [
    'previous bytes, base64',
    {
      preimage: ['previous-bytes', python('ascii', BOTH)],
      digest: { genesis: { text: 'first' }, encoding: 'base64' },
    },
    [],
  ],
  [
    'separators',
    {
      preimage: [text('v1\n'), 'previous', text('|'), python('ascii', BOTH)],
      digest: { genesis: 'empty', genesis_hashed_as: 'GENESIS' },
    },
    [],
  ],
  [
    'join',
    { preimage: [join('|', ['prev', 'seq', 'at', 'actor', 'action', 'amount', 'big', 'note', 'paid'], 'None')] },
    ['stream', 'id', 'metadata', ...LOOSE],
  ],
  [
    'join of everything',
    {
      preimage: [
        join(
          ';',
          ['seq', 'at', 'stream', 'id', 'actor', 'action', 'amount', 'big', 'note', 'paid', 'metadata', 'prev'],
          'None',
        ),
      ],
    },
    [...LOOSE, 'the type of metadata'],
  ],
  [
    'join without separator',
    { preimage: [join('', ['seq', 'at', 'stream', 'actor', 'prev'])] },
    [
      'id',
      'action',
      'amount',
      'big',
      'note',
      'paid',
      'metadata',
      'where each of seq + at + stream + actor + prev ends',
    ],
  ],
  [
    'join of nested',
    { preimage: ['previous', text('|'), join('|', ['seq', 'metadata.alpha.k', 'at', 'stream', 'id'])] },
    [
      'actor',
      'action',
      'amount',
      'big',
      'note',
      'paid',
      'metadata.zeta',
      'metadata.é',
      'metadata.empty',
      'the type of metadata.alpha.k',
    ],
  ],
  [
    'join and json',
    { preimage: [join('|', ['prev', 'seq', 'actor']), text('|'), python('ascii sorted', { of: 'metadata' })] },
    ['stream', 'at', 'id', 'action', 'amount', 'big', 'note', 'paid'],
  ],
  [
    'json of a member',
    { preimage: ['previous', python('ascii sorted', { of: 'metadata' }), text('.'), join('', ['seq'])] },
    ['stream', 'at', 'id', 'actor', 'action', 'amount', 'big', 'note', 'paid'],
  ],
  [
    'rfc8785 of a part of a member',
    { preimage: ['previous', jcs({ of: 'metadata', fields: ['zeta'] })] },
    [
      'seq',
      'stream',
      'at',
      'id',
      'actor',
      'action',
      'amount',
      'note',
      'paid',
      'metadata.alpha',
      'metadata.é',
      'metadata.empty',
    ],
  ],
  [
    'fields in order',
    { preimage: [python('compact ascii', { fields: ['seq', 'prev', 'actor', 'metadata', 'missing', 'at'] })] },
    ['stream', 'id', 'action', 'amount', 'big', 'note', 'paid'],
  ],
  [
    'fields, rfc8785',
    { preimage: [jcs({ fields: ['seq', 'prev', 'actor', 'at', 'missing', 'stream'] })] },
    ['id', 'action', 'amount', 'note', 'paid', 'metadata'],
  ],
  ['as sent', { preimage: [asSent({ without: ['hash'] })] }, []],
  [
    'a member as sent',
    { preimage: ['previous', asSent({ of: 'metadata' })] },
    ['seq', 'stream', 'at', 'id', 'actor', 'action', 'amount', 'big', 'note', 'paid'],
  ],
  ['sha-384, base64', { preimage: SIMPLE, algorithm: 'sha-384', digest: { encoding: 'base64' } }, []],
  [
    'sha-512, base64url, padded',
    { preimage: SIMPLE, algorithm: 'sha-512', digest: { encoding: 'base64url', genesis: 'empty' } },
    [],
  ],
  [
    'sha-512, base64url',
    {
      preimage: [join('|', ['prev', 'seq', 'id', 'actor'])],
      algorithm: 'sha-512',
      digest: { encoding: 'base64url', genesis: 'empty' },
    },
    ['stream', 'at', 'action', 'amount', 'big', 'note', 'paid', 'metadata'],
  ],
  ['sha-256, base64, no padding', { preimage: SIMPLE, digest: { encoding: 'base64', genesis: 'empty' } }, []],
  [
    'base64 before a join',
    {
      preimage: ['previous', join('|', ['actor', 'seq'])],
      digest: { encoding: 'base64', genesis: { text: '-' } },
    },
    ['stream', 'at', 'id', 'action', 'amount', 'big', 'note', 'paid', 'metadata', 'where previous ends'],
  ],
  ['hmac, one key', { preimage: SIMPLE, algorithm: 'hmac-sha-256', key: { id: 'k1' } }, []],
  ['hmac, key by field', { preimage: [python('ascii sorted')], algorithm: 'hmac-sha-512', key: { field: 'key' } }, []],
  [
    'hmac-sha-384',
    {
      preimage: SIMPLE,
      algorithm: 'hmac-sha-384',
      key: { id: 'k2' },
      digest: { encoding: 'base64', genesis: 'empty' },
    },
    [],
  ],
  ['prefix', { preimage: SIMPLE, digest: { prefix: 'sha256:' } }, []],
  [
    'prefix, nothing before the first',
    { preimage: ['previous', jcs(BOTH)], digest: { prefix: 'sha256:', genesis_hashed_as: '' } },
    [],
  ],
  ['zeros hashed as a word', { preimage: ['previous', jcs(BOTH)], digest: { genesis_hashed_as: 'root' } }, []],
  [
    'base64 zeros hashed as nothing',
    { preimage: ['previous', jcs(BOTH)], digest: { encoding: 'base64', genesis_hashed_as: '' } },
    [],
  ],
  ['null', { preimage: ['previous', jcs(BOTH)], digest: { genesis: 'null' } }, []],
  [
    'null hashed as zeros',
    { preimage: ['previous', jcs(BOTH)], digest: { genesis: 'null', genesis_hashed_as: '0'.repeat(64) } },
    [],
  ],
  ['null inside', { preimage: [python('ascii sorted')], digest: { genesis: 'null' } }, []],
  ['absent', { preimage: ['previous', jcs(BOTH)], digest: { genesis: 'absent' } }, []],
  [
    'absent hashed as a word',
    { preimage: ['previous', jcs(BOTH)], digest: { genesis: 'absent', genesis_hashed_as: 'none' } },
    [],
  ],
  ['a word', { preimage: ['previous', jcs(BOTH)], digest: { genesis: { text: 'GENESIS' } } }, []],
  [
    'a word hashed as another',
    { preimage: ['previous', jcs(BOTH)], digest: { genesis: { text: 'GENESIS' }, genesis_hashed_as: '0' } },
    [],
  ],
  ['from 0', { preimage: [python('ascii')], entry: { first_sequence: 0 } }, []],
  [
    'numbers as text',
    { preimage: [join('|', ['prev', 'seq', 'stream'])], numbers: 'text' },
    ['at', 'id', 'actor', 'action', 'amount', 'big', 'note', 'paid', 'metadata'],
  ],
  ['no zone', { preimage: [python('ascii')] }, []],
  ['no zone, a space', { preimage: [python('ascii')] }, []],
  ['seconds', { preimage: [python('ascii')], entry: { timestamp_unit: 'seconds' } }, []],
  ['milliseconds', { preimage: [python('ascii')], entry: { timestamp_unit: 'milliseconds' } }, []],
  [
    'roles in a member',
    {
      preimage: ['previous', text('|'), join('', ['actor'])],
      entry: { sequence: 'chain.seq', previous: 'chain.prev', digest: 'chain.hash' },
    },
    ['chain.seq', 'stream', 'at', 'id', 'chain.by', 'action', 'amount', 'big', 'note', 'paid', 'metadata'],
  ],
  [
    'roles in a member, hashed whole',
    {
      preimage: [python('ascii', { without: ['chain'] }), python('ascii sorted', { of: 'chain', without: ['hash'] })],
      entry: { sequence: 'chain.seq', previous: 'chain.prev', digest: 'chain.hash' },
    },
    [],
  ],
  [
    'names with dots',
    { preimage: ['previous', text('|'), join('', ['a.b'])] },
    [
      'seq',
      'stream',
      'at',
      'id',
      'actor',
      'action',
      'amount',
      'big',
      'note',
      'paid',
      'metadata',
      '"a.b"',
      'the type of a.b',
    ],
  ],
  [
    'next to nothing',
    { preimage: [join('', ['actor'])] },
    ['seq', 'prev', 'stream', 'at', 'id', 'action', 'amount', 'big', 'note', 'paid', 'metadata'],
  ],
];
