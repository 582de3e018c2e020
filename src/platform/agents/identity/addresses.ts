import type { CertificateKind } from '../enums.ts';
import type { RevocationListName } from './identity-rows.ts';

const FILE_WORDS: Record<CertificateKind, string> = { ecdsa: 'ecdsa', ml_dsa_65: 'ml-dsa-65' };

/** Returns the file name before `.crl`: `ecdsa` and `ml-dsa-65` for the first generation, `ecdsa-2` for the second. */
export function revocationListFile({ kind, generation }: RevocationListName): string {
  return generation === 1 ? FILE_WORDS[kind] : `${FILE_WORDS[kind]}-${generation}`;
}

/** Parses such a file name; null if it is invalid. */
export function toRevocationListName(file: string): RevocationListName | null {
  const match = /^(ecdsa|ml-dsa-65)(?:-([1-9]\d{0,5}))?$/.exec(file);
  if (match === null) return null;
  const generation = Number(match[2] ?? 1);
  const name: RevocationListName = { kind: match[1] === 'ecdsa' ? 'ecdsa' : 'ml_dsa_65', generation };
  return revocationListFile(name) === file ? name : null;
}

/** Addresses and names of the documents with which anyone can verify an agent. */
export class IdentityAddresses {
  /** Address of the service without a trailing slash: `https://HOST/agents`. */
  readonly base: string;
  readonly #url: URL;

  /** @param publicUrl public address of the platform. */
  constructor(publicUrl: string) {
    this.base = `${publicUrl.replace(/\/+$/, '')}/agents`;
    this.#url = new URL(this.base);
  }

  /**
   * Returns the trust domain by SPIFFE-ID section 2.1: lower-case letters, digits, dots, dashes and underscores,
   * without a port.
   */
  get trustDomain(): string {
    return this.#url.hostname.toLowerCase().replace(/[^a-z0-9._-]/g, '-');
  }

  spiffeId(agentId: string): string {
    return `spiffe://${this.trustDomain}/agents/${agentId}`;
  }

  /**
   * Returns the DID by did:web section 3: the path with colons, and the colon of a port percent-encoded. The method
   * requires a host name, not an IP address.
   */
  did(agentId: string): string {
    const path = this.#url.pathname.split('/').filter((part) => part !== '');
    return ['did', 'web', encodeURIComponent(this.#url.host), ...path, 'did', agentId].join(':');
  }

  /** Returns the address of a file next to an agent's DID document. */
  ofAgent(agentId: string, file: 'did.json' | 'agent-card.json'): string {
    return `${this.base}/did/${agentId}/${file}`;
  }

  /** Returns the address at which anyone can request an agent's state. */
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
