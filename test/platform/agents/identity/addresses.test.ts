import { parse } from 'did-resolver';
import { expect, test } from 'vitest';
import {
  IdentityAddresses,
  revocationListFile,
  toRevocationListName,
} from '../../../../src/platform/agents/identity/addresses.ts';

test.each([
  ['https://platform.example', 'did:web:platform.example:agents:did:ID', 'spiffe://platform.example/agents/ID'],
  [
    'https://Platform.Example:8443/',
    'did:web:platform.example%3A8443:agents:did:ID',
    'spiffe://platform.example/agents/ID',
  ],
  ['https://example/a/b', 'did:web:example:a:b:agents:did:ID', 'spiffe://example/agents/ID'],
  ['http://[::1]:80', 'did:web:%5B%3A%3A1%5D:agents:did:ID', 'spiffe://---1-/agents/ID'],
])('a platform at %s has agents of %s, %s', (publicUrl, did, spiffeId) => {
  const addresses = new IdentityAddresses(publicUrl);
  expect(addresses.did('ID')).toBe(did);
  expect(parse(did)?.method).toBe('web');
  expect(addresses.spiffeId('ID')).toBe(spiffeId);
  // X.509-SVID, SPIFFE-ID section 2.1.
  expect(addresses.trustDomain).toMatch(/^[a-z0-9._-]{1,255}$/);
});

test.each([
  ['ecdsa', 1, 'ecdsa'],
  ['ml_dsa_65', 1, 'ml-dsa-65'],
  ['ecdsa', 2, 'ecdsa-2'],
  ['ml_dsa_65', 12, 'ml-dsa-65-12'],
] as const)('the list of %s, generation %i, is in %s', (kind, generation, file) => {
  expect(revocationListFile({ kind, generation })).toBe(file);
  expect(toRevocationListName(file)).toEqual({ kind, generation });
});
