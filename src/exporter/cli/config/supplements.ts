import { EvidenceError } from '../../../core/errors.ts';
import type { Description } from '../../../verifier/profile/description.ts';
import { OTHER_SERVICES, SUPPLEMENT_SERVICES } from '../../../verifier/supplements/files.ts';
import { SupplementClient } from '../../client/supplement.ts';
import type { Transports } from '../../client/transports.ts';
import type { SupplementSource } from '../../supplements/source.ts';
import type { SourceConfig } from './sections.ts';

/**
 * The services that supplements are collected from; null where none of them is configured.
 * @throws EvidenceError `config` for a service that the contract does not describe.
 */
export function connectSupplements(
  { auditUrl, otherUrls, bounds }: SourceConfig,
  contract: Description,
  transports: Transports,
): SupplementSource | null {
  const { name, supplements } = contract;
  const configured = OTHER_SERVICES.filter((service) => otherUrls[service] !== null);
  if (configured.length === 0) return null;
  const unknown = configured.find((service) => supplements?.[service] == null);
  if (supplements === undefined || unknown !== undefined)
    throw new EvidenceError('config', `source.${unknown}_url is set, and the contract "${name}" does not describe it`, {
      nextStep: `Describe it in the contract's section "supplements", as templates/contract/default.yaml does, or leave out source.${unknown}_url.`,
    });
  const urls = { audit: auditUrl, ...otherUrls };
  const clients = SUPPLEMENT_SERVICES.flatMap((service) => {
    const url = urls[service];
    return url === null ? [] : [[service, new SupplementClient(transports.to(new URL(url).origin), url)] as const];
  });
  const limits = { answers: bounds.maxPages, bytes: bounds.maxBytes.download };
  return { clients: new Map(clients), contract: { ...contract, supplements }, limits };
}
