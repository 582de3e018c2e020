import type { Json } from '../../../core/json/canonical.ts';
import type { AgentPublicKeys, PublicJwk } from './keys.ts';
import { base64Json, type PlatformSigner, signJws } from './tokens.ts';

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

/** The subject of a card. Names of tools, APIs and owners are not on it: anybody can read it. */
interface CardSubject {
  name: string;
  version: string;
  did: string;
  spiffeId: string;
  verificationUrl: string;
  statusListUrl: string;
  /** The address of the platform's signing keys. */
  keysUrl: string;
  /** The address of the service that vouches for the agent. */
  serviceUrl: string;
}

/** An AgentCard of A2A 1.0, as its section 4.4 writes it. */
export type AgentCard = { [name: string]: Json } & { signatures: { protected: string; signature: string }[] };

const IDENTITY_EXTENSION = 'urn:evidence-platform:agent:identity:1';

/**
 * Signed as section 8.4 says, by each algorithm. The card says who the agent is; where it takes messages of A2A this
 * service does not know, so `supportedInterfaces` is empty. Section 5.7 wants one at least: an address of ours, which
 * takes none, would be a lie. Section 8.4.1 keeps a required member though it is empty, and the SDKs leave it out: both
 * forms are signed, and a verifier needs one signature that holds.
 */
export function signAgentCard(subject: CardSubject, signers: readonly PlatformSigner[]): AgentCard {
  const stated = cardOf(subject);
  const card = { ...stated, supportedInterfaces: [] };
  const header = { typ: 'JOSE', jku: subject.keysUrl };
  const signatures = [stated, card].flatMap((form) =>
    signers.map((signer) => signJws(base64Json(form), header, signer)),
  );
  return { ...card, signatures };
}

function cardOf(subject: CardSubject): { [name: string]: Json } {
  const { did, spiffeId, verificationUrl, statusListUrl } = subject;
  return {
    name: subject.name,
    description: 'An agent that is registered with a governance service, which vouches for who it is.',
    version: subject.version,
    provider: { organization: 'Evidence Platform', url: subject.serviceUrl },
    capabilities: {
      streaming: false,
      pushNotifications: false,
      extensions: [
        {
          uri: IDENTITY_EXTENSION,
          description: 'Who the agent is, and where anybody asks how it stands.',
          params: { did, spiffe_id: spiffeId, verification: verificationUrl, status_list: statusListUrl },
        },
      ],
    },
    defaultInputModes: ['application/json'],
    defaultOutputModes: ['application/json'],
    skills: [
      {
        id: 'identity',
        name: 'Proves who it is',
        description: 'Answers a challenge with the keys of its DID.',
        tags: ['identity'],
      },
    ],
  };
}
