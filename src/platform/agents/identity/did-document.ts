import type { AgentPublicKeys, PublicJwk } from './keys.ts';

export interface DidDocument {
  '@context': string[];
  id: string;
  verificationMethod: VerificationMethod[];
  /** Ids of verification methods: by these the agent says who it is, and signs what it did. */
  authentication: string[];
  assertionMethod: string[];
  service: { id: string; type: string; serviceEndpoint: string }[];
}

interface VerificationMethod {
  id: string;
  type: 'JsonWebKey';
  controller: string;
  publicKeyJwk: PublicJwk;
}

/**
 * Resolves a DID of did:web (W3C DID Core; keys as in Controlled Identifiers section 2.2.3).
 * @param keys null where the agent was revoked: a document without keys verifies nothing.
 */
export function didDocument(
  did: string,
  keys: AgentPublicKeys | null,
  { verification, card }: { verification: string; card: string },
): DidDocument {
  const method = (publicKeyJwk: PublicJwk): VerificationMethod => ({
    id: `${did}#${publicKeyJwk.kid}`,
    type: 'JsonWebKey',
    controller: did,
    publicKeyJwk,
  });
  const methods = keys === null ? [] : [keys.ed25519, keys.ml_dsa_65].map(method);
  const ids = methods.map(({ id }) => id);
  return {
    '@context': ['https://www.w3.org/ns/did/v1', 'https://www.w3.org/ns/cid/v1'],
    id: did,
    verificationMethod: methods,
    authentication: ids,
    assertionMethod: ids,
    service: [
      { id: `${did}#verification`, type: 'AgentVerification', serviceEndpoint: verification },
      { id: `${did}#agent-card`, type: 'A2AAgentCard', serviceEndpoint: card },
    ],
  };
}
