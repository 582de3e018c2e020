import type { Json } from '../../../core/json/canonical.ts';
import type { Agent } from '../agent-rows.ts';
import type { IdentityAddresses } from './addresses.ts';
import type { AgentPublicKeys } from './identity-rows.ts';
import { base64Json, type PlatformSigner, signJws } from './tokens.ts';

/**
 * Returns the DID document of an agent (W3C DID Core; keys as in Controlled Identifiers section 2.2.3).
 * @param keys null if the agent is revoked: a document without keys verifies nothing.
 */
export function didDocument(agentId: string, keys: AgentPublicKeys | null, addresses: IdentityAddresses) {
  const did = addresses.did(agentId);
  const methods = (keys === null ? [] : [keys.ed25519, keys.ml_dsa_65]).map((publicKeyJwk) => {
    return { id: `${did}#${publicKeyJwk.kid}`, type: 'JsonWebKey', controller: did, publicKeyJwk };
  });
  // Keys with which the agent authenticates and signs its actions.
  const ids = methods.map(({ id }) => id);
  const [verification, card] = [addresses.verification(agentId), addresses.ofAgent(agentId, 'agent-card.json')];
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

/** Parts of an agent on its card. The card is public, so it omits the names of tools, APIs and owners. */
type CardSubject = Pick<Agent, 'agent_id' | 'name' | 'version'>;

/** AgentCard of A2A 1.0 section 4.4. */
export type AgentCard = { [name: string]: Json } & { signatures: { protected: string; signature: string }[] };

const IDENTITY_EXTENSION = 'urn:evidence-platform:agent:identity:1';

/**
 * Signs a card as section 8.4 describes, with each algorithm. The card states the identity of the agent. This service
 * does not know where the agent accepts A2A messages, so `supportedInterfaces` is empty. Section 5.7 requires at least
 * one, but one of our addresses, which accept none, would be false. Section 8.4.1 keeps an empty required member, and
 * the SDKs omit it: both forms are signed, and a verifier needs one valid signature.
 */
export function signAgentCard(
  subject: CardSubject,
  addresses: IdentityAddresses,
  signers: readonly PlatformSigner[],
): AgentCard {
  const stated = cardOf(subject, addresses);
  const card = { ...stated, supportedInterfaces: [] };
  const header = { typ: 'JOSE', jku: addresses.ofPlatform('jwks.json') };
  const signatures = [stated, card].flatMap((form) =>
    signers.map((signer) => signJws(base64Json(form), header, signer)),
  );
  return { ...card, signatures };
}

function cardOf({ agent_id, name, version }: CardSubject, addresses: IdentityAddresses): { [name: string]: Json } {
  const identity = {
    did: addresses.did(agent_id),
    spiffe_id: addresses.spiffeId(agent_id),
    verification: addresses.verification(agent_id),
    status_list: addresses.ofPlatform('status-list'),
  };
  return {
    name,
    description: 'An agent that is registered with a governance service, which vouches for its identity.',
    version,
    provider: { organization: 'Evidence Platform', url: addresses.base },
    capabilities: {
      streaming: false,
      pushNotifications: false,
      extensions: [
        {
          uri: IDENTITY_EXTENSION,
          description: 'The identity of the agent, and where its status can be verified.',
          params: identity,
        },
      ],
    },
    defaultInputModes: ['application/json'],
    defaultOutputModes: ['application/json'],
    skills: [
      {
        id: 'identity',
        name: 'Proves its identity',
        description: 'Answers a challenge with the keys of its DID.',
        tags: ['identity'],
      },
    ],
  };
}
