import type { FastifyBaseLogger } from 'fastify';
import type { Json } from '../../../core/json/canonical.ts';
import type { CredentialType } from '../enums.ts';
import type { TrapMark, TrapUse } from '../use.ts';

/** Services that a decoy can imitate. */
export const DECOY_KINDS = ['aws', 'kubernetes', 'postgres', 'ssh', 'web'] as const;
export type DecoyKind = (typeof DECOY_KINDS)[number];

/** A decoy as the settings have it. */
export interface DecoySettings {
  /** The decoy's name in settings and pages. */
  name: string;
  kind: DecoyKind;
  /** The address to listen on; port 0 for any free one. */
  host: string;
  port: number;
  /** The host in planted credentials; null for the address it listens on. */
  publicHost: string | null;
  publicPort: number | null;
  /** PEM; null for a certificate of its own. */
  tls: { certificate: string; key: string } | null;
  /** It talks without TLS. */
  isPlain?: true;
}

/** The address of a decoy, as planted credentials name it. */
export interface DecoyPlace {
  name: string;
  kind: DecoyKind;
  host: string;
  port: number;
  /** PEM of what a client has to trust; null where the certificate is of an authority that it knows. */
  authority: string | null;
  /** It talks without TLS. */
  isPlain?: true;
  /** Issues a certificate for a client of it; its user is the common name, its groups are organizations. */
  issueClient?: (user: string, groups: readonly string[]) => Promise<{ certificate: string; key: string }>;
}

/** A trap that a client used. */
export interface FoundTrap {
  trapNo: number;
  type: CredentialType;
  /** Its parts: what the type made. */
  credential: { [name: string]: Json };
}

/** The tools of a decoy. */
export interface DecoyDeps {
  /** The trap that has one of these marks; null for none. */
  find(marks: readonly TrapMark[]): Promise<FoundTrap | null>;
  /**
   * Records a use. Resolves after its commit, or when it took so long that a client would notice: it is recorded then
   * too. Never rejects.
   */
  record(use: TrapUse): Promise<void>;
  clock: () => Date;
  log: FastifyBaseLogger;
}

/** A decoy that listens. */
export interface Decoy {
  place: DecoyPlace;
  /**
   * Uses a trap as its client would, under a name for the client that tells the use from a real one.
   * @throws Error in words for a person, when the decoy does not answer as it should.
   */
  probe(trap: FoundTrap, userAgent: string): Promise<void>;
  close(): Promise<void>;
}

/** Starts a decoy. @param folder of its own, for keys that it makes once. */
export type StartDecoy = (settings: DecoySettings, folder: string, deps: DecoyDeps) => Promise<Decoy>;
