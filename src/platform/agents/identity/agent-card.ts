import type { Json } from '../../../core/json/canonical.ts';
import { base64Json, type PlatformSigner, signJws } from './signatures.ts';

/** The subject of a card. Names of tools, APIs and owners are not on it: anybody can read it. */
export interface CardSubject {
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

export const IDENTITY_EXTENSION = 'urn:evidence-platform:agent:identity:1';

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
