import type { FastifyBaseLogger } from 'fastify';
import type { Json } from '../../../core/json/canonical.ts';
import type { CredentialType } from '../enums.ts';
import type { TrapMark, TrapUse } from '../use.ts';

/** Services that a decoy can imitate. */
export const DECOY_KINDS = ['aws', 'kubernetes', 'postgres', 'ssh', 'web'] as const;
export type DecoyKind = (typeof DECOY_KINDS)[number];

export interface DecoySettings {
  /** Name of the decoy in settings and pages. */
  name: string;
  kind: DecoyKind;
  /** Address to listen on; port 0 selects any free port. */
  host: string;
  port: number;
  /** Host in planted credentials; null for the address to listen on. */
  publicHost: string | null;
  publicPort: number | null;
  /** Certificate and key in PEM; null for a certificate that the decoy issues itself. */
  tls: { certificate: string; key: string } | null;
  /** True if the decoy uses no TLS. */
  isPlain?: true;
}

/** Address of a decoy, as used in planted credentials. */
export interface DecoyPlace {
  name: string;
  kind: DecoyKind;
  host: string;
  port: number;
  /** PEM of the authority that a client has to trust; null if clients already know the authority. */
  authority: string | null;
  /** True if the decoy uses no TLS. */
  isPlain?: true;
  /** Issues a certificate for a client of the decoy; the user is the common name, and the groups are organizations. */
  issueClient?: (user: string, groups: readonly string[]) => Promise<{ certificate: string; key: string }>;
}

/** Trap that a client used. */
export interface FoundTrap {
  trapNo: number;
  type: CredentialType;
  /** Parts of the credential, as the type made them. */
  credential: { [name: string]: Json };
}

/** Dependencies of a decoy. */
export interface DecoyDeps {
  /** Returns the trap that has one of these marks; null if there is none. */
  find(marks: readonly TrapMark[]): Promise<FoundTrap | null>;
  /**
   * Records a use. Resolves after its commit, or earlier if a client would notice the delay; the use is recorded in
   * both cases. Never rejects.
   */
  record(use: TrapUse): Promise<void>;
  clock: () => Date;
  log: FastifyBaseLogger;
}

/** Listening decoy. */
export interface Decoy {
  place: DecoyPlace;
  /**
   * Uses a trap as a client would, with a user agent that distinguishes this use from a real one.
   * @throws Error with a readable message if the decoy does not answer as it should.
   */
  probe(trap: FoundTrap, userAgent: string): Promise<void>;
  close(): Promise<void>;
}

/** Starts a decoy. @param folder of the decoy, for keys that it creates once. */
export type StartDecoy = (settings: DecoySettings, folder: string, deps: DecoyDeps) => Promise<Decoy>;
