import type { Json } from '../../../core/json/canonical.ts';
import type { Agent } from '../agent-rows.ts';
import type { IdentityAddresses } from './addresses.ts';
import type { AgentPublicKeys } from './identity-rows.ts';
import { base64Json, type PlatformSigner, signJws } from './tokens.ts';

/**
 * Resolves a DID of did:web (W3C DID Core; keys as in Controlled Identifiers section 2.2.3).
 * @param keys null where the agent was revoked: a document without keys verifies nothing.
 */
export function didDocument(agentId: string, keys: AgentPublicKeys | null, addresses: IdentityAddresses) {
  const did = addresses.did(agentId);
  const methods = (keys === null ? [] : [keys.ed25519, keys.ml_dsa_65]).map((publicKeyJwk) => {
    return { id: `${did}#${publicKeyJwk.kid}`, type: 'JsonWebKey', controller: did, publicKeyJwk };
  });
  // By these the agent says who it is, and signs what it did.
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

/** Parts of an agent that its card shows. Names of tools, APIs and owners are not on it: anybody can read it. */
type CardSubject = Pick<Agent, 'agent_id' | 'name' | 'version'>;

/** An AgentCard of A2A 1.0, as its section 4.4 writes it. */
export type AgentCard = { [name: string]: Json } & { signatures: { protected: string; signature: string }[] };

const IDENTITY_EXTENSION = 'urn:evidence-platform:agent:identity:1';

/**
 * Signed as section 8.4 says, by each algorithm. The card says who the agent is; where it takes messages of A2A this
 * service does not know, so `supportedInterfaces` is empty. Section 5.7 wants one at least: an address of ours, which
 * takes none, would be a lie. Section 8.4.1 keeps a required member though it is empty, and the SDKs leave it out: both
 * forms are signed, and a verifier needs one signature that holds.
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
    description: 'An agent that is registered with a governance service, which vouches for who it is.',
    version,
    provider: { organization: 'Evidence Platform', url: addresses.base },
    capabilities: {
      streaming: false,
      pushNotifications: false,
      extensions: [
        {
          uri: IDENTITY_EXTENSION,
          description: 'Who the agent is, and where anybody asks how it stands.',
          params: identity,
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
