import type { CertificateKind } from '../enums.ts';
import type { RevocationListName } from './identity-rows.ts';

const FILE_WORDS: Record<CertificateKind, string> = { ecdsa: 'ecdsa', ml_dsa_65: 'ml-dsa-65' };

/** `ecdsa`, `ml-dsa-65` of the first generation, `ecdsa-2` of the second: what stands before `.crl`. */
export function revocationListFile({ kind, generation }: RevocationListName): string {
  return generation === 1 ? FILE_WORDS[kind] : `${FILE_WORDS[kind]}-${generation}`;
}

/** The other way round; null for what is no such name. */
export function toRevocationListName(file: string): RevocationListName | null {
  const match = /^(ecdsa|ml-dsa-65)(?:-([1-9]\d{0,5}))?$/.exec(file);
  if (match === null) return null;
  const generation = Number(match[2] ?? 1);
  const name: RevocationListName = { kind: match[1] === 'ecdsa' ? 'ecdsa' : 'ml_dsa_65', generation };
  return revocationListFile(name) === file ? name : null;
}

/** Addresses and names of the documents by which strangers verify an agent. */
export class IdentityAddresses {
  /** The address of the service, without a slash at its end: `https://HOST/agents`. */
  readonly base: string;
  readonly #url: URL;

  /** @param publicUrl where the platform is reached. */
  constructor(publicUrl: string) {
    this.base = `${publicUrl.replace(/\/+$/, '')}/agents`;
    this.#url = new URL(this.base);
  }

  /** SPIFFE-ID section 2.1: lower-case letters, digits, dots, dashes and underscores, and no port. */
  get trustDomain(): string {
    return this.#url.hostname.toLowerCase().replace(/[^a-z0-9._-]/g, '-');
  }

  spiffeId(agentId: string): string {
    return `spiffe://${this.trustDomain}/agents/${agentId}`;
  }

  /**
   * did:web section 3: the path with colons; the colon of a port is percent-encoded. It wants a name, not an IP
   * address.
   */
  did(agentId: string): string {
    const path = this.#url.pathname.split('/').filter((part) => part !== '');
    return ['did', 'web', encodeURIComponent(this.#url.host), ...path, 'did', agentId].join(':');
  }

  /** The address of a file beside an agent's DID document. */
  ofAgent(agentId: string, file: 'did.json' | 'agent-card.json'): string {
    return `${this.base}/did/${agentId}/${file}`;
  }

  /** The address at which anybody asks for an agent's state. */
  verification(agentId: string): string {
    return `${this.base}/api/v1/public/verify-agent/${agentId}`;
  }

  ofPlatform(file: 'jwks.json' | 'status-list'): string {
    return `${this.base}/api/v1/public/${file}`;
  }

  revocationList(name: RevocationListName): string {
    return `${this.base}/api/v1/public/crl/${revocationListFile(name)}.crl`;
  }
}
