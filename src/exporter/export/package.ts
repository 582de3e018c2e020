import { randomUUID } from 'node:crypto';
import { EvidenceError } from '../../core/errors.ts';
import { cutText } from '../../core/foreign-text.ts';
import { readHttpDate } from '../../core/http-date.ts';
import { SHOWN_OF_ID } from '../client/audit.ts';
import type { ServiceInUse } from './context.ts';
import type { MadePackage } from './received.ts';

/**
 * Has the service make a package, and waits until it is ready.
 * @param onWait is called when it is not ready at once.
 * @throws EvidenceError `service` when it makes one of another stream.
 */
export async function makePackage(
  { client, packagePeriod }: ServiceInUse,
  streamId: string,
  onWait: () => void,
): Promise<MadePackage> {
  const askedAt = Date.now();
  const { generated, exchange } = await client.generate(streamId, packagePeriod, randomUUID());
  // At the earliest: the answer may have been dated at any moment since, to the second.
  const answered = readHttpDate(exchange.date);
  const askedAtByService = answered === null ? null : answered - (Date.now() - askedAt);
  const { packageId } = generated;
  if (generated.streamId !== null && generated.streamId !== streamId)
    throw new EvidenceError(
      'service',
      `a package of the stream "${cutText(generated.streamId, SHOWN_OF_ID)}" was generated instead`,
    );
  if (generated.made === null) onWait();
  const { entryCount } = generated.made ?? (await client.awaitPackage(packageId));
  return { packageId, entryCount, askedAt, askedAtByService, transferLog: [{ step: 'generate', exchange }] };
}
