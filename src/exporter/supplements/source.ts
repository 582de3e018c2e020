import type { Description } from '../../verifier/profile/description.ts';
import type { SupplementsDescription } from '../../verifier/profile/supplements.ts';
import { OTHER_SERVICES, type OtherService, type SupplementService } from '../../verifier/supplements/files.ts';
import type { SupplementClient } from '../client/supplement.ts';

/** The services that supplements are collected from. */
export interface SupplementSource {
  /** Those that are configured, and the audit service itself. */
  clients: ReadonlyMap<SupplementService, SupplementClient>;
  contract: Description & { supplements: SupplementsDescription };
  /** The limits of one service, in all. */
  limits: { answers: number; bytes: number };
}

/** Those that are configured beside the audit service. */
export function othersOf({ clients }: SupplementSource): [OtherService, SupplementClient][] {
  return OTHER_SERVICES.flatMap((service) => {
    const client = clients.get(service);
    return client === undefined ? [] : [[service, client] as [OtherService, SupplementClient]];
  });
}
