import type { SupplementsDescription } from '../../verifier/profile/supplements.ts';
import type { SupplementService } from '../../verifier/supplements/files.ts';
import type { SupplementClient } from '../client/supplement.ts';

/** The services that supplements are collected from. */
export interface SupplementSource {
  /** Those that are configured, and the audit service itself. */
  clients: ReadonlyMap<SupplementService, SupplementClient>;
  description: SupplementsDescription;
  /** Of one service, in all. */
  limits: { answers: number; bytes: number };
}
