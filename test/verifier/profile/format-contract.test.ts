import { describe, expect, test } from 'vitest';
import type { Description } from '../../../src/verifier/profile/description.ts';
import { formatContract, parseContract } from '../../../src/verifier/profile/file.ts';
import { DEFAULT_DESCRIPTION } from '../../../src/verifier/reading/default-contract.ts';

const ODD: Description = {
  ...DEFAULT_DESCRIPTION,
  name: 'null',
  numbers: 'text',
  streams: {
    ...DEFAULT_DESCRIPTION.streams,
    items: '',
    paging: { style: 'link', next: null, absent_at_end: true },
    limit: null,
  },
  entries: null,
  verify: null,
  summary: null,
  seal: null,
  generate: {
    ...DEFAULT_DESCRIPTION.generate,
    body: { yes: '{stream_id}', 'a: b': ['#', '- x', 'true', '1.0', 7], '': null },
  },
  digest: {
    encoding: 'base64url',
    prefix: 'sha256:',
    genesis: { text: '~' },
    genesis_hashed_as: '',
    recipe: {
      algorithm: 'hmac-sha-512',
      key: { id: '0x10' },
      preimage: [
        'previous',
        { text: '\n' },
        { join: { separator: ': ', fields: ['naïve 🔑.[x]', '@b', '%c'], null_as: 'None' } },
        {
          json: {
            form: 'python',
            separators: 'spaced',
            ascii: true,
            sort_keys: false,
            of: 'details',
            fields: ['on', 'off'],
          },
        },
      ],
    },
  },
};

describe.each([
  ['the default contract', DEFAULT_DESCRIPTION],
  ['one of odd texts', ODD],
])('%s', (_, description) => {
  const notes = { entry: 'How it was found.\nIn two lines: # and more' };

  test('is read back as it was', () => {
    expect(parseContract(formatContract(description, notes), 'contract.yaml')).toEqual(description);
  });

  test('has the same bytes again when it was read back', () => {
    const text = formatContract(description, notes);
    expect(formatContract(parseContract(text, 'contract.yaml'), notes)).toBe(text);
  });
});

test('says before each section what it is, and how it was found where that is told', () => {
  const text = formatContract(DEFAULT_DESCRIPTION, { seal: 'Told by nobody.' });
  for (const name of ['streams', 'entries', 'verify', 'generate', 'downloads', 'package', 'summary', 'entry', 'digest'])
    expect(text).toMatch(new RegExp(`\\n\\n# [^\\n]+\\n${name}:`));
  expect(text).toMatch(/\n# Told by nobody\.\nseal:/);
});
