import type { ZodType } from 'zod';
import { type Custody, custodySchema, EVIDENCE, verificationSchema } from '../bundle/documents.ts';
import { CUSTODY, VERIFICATION } from '../bundle/files.ts';
import { openBundle } from '../bundle/read.ts';
import { PackageReader } from '../chain/package.ts';
import { readRecord, type StreamRecord, type Unbound } from '../ledger/record.ts';
import type { ExportContext } from './context.ts';
import { ListingCheck, whyNotListed } from './listing.ts';
import type { ListedStream } from './plan.ts';
import type { Asked } from './received.ts';
import { notOurs } from './records.ts';

const MAX_DOCUMENT_BYTES = 256 * 2 ** 20;

/**
 * Holds the entries of a bundle that lay in the archive against the service's own listing, as it is now; where the
 * service does not list them, nothing is said.
 *
 * @throws EvidenceError `conflict` when they differ, and did not when the bundle was packed.
 */
export async function checkAgainstListing(
  context: ExportContext,
  stream: ListedStream,
  file: string,
  { bundle: { key }, claims, stream_id: streamId }: Unbound<StreamRecord>,
): Promise<void> {
  const { client, contract, sealKeys, packagePeriod, completeness } = context;
  const isListed =
    client.listsEntries &&
    contract.scope !== 'account' &&
    completeness === 'listing' &&
    whyNotListed(completeness, stream) === null;
  if (!isListed || claims.completeness.state === 'refuted') return;
  const listing = new ListingCheck(client, streamId, packagePeriod, null);
  using reader = new PackageReader(contract, sealKeys, {
    streamId,
    onEntry: (entry) => listing.add(entry),
    onSent: (entries) => listing.addSent(entries),
  });
  const bundle = await openBundle(file, {}, key);
  const document = async <T>(schema: ZodType<T>, path: string) =>
    readRecord(schema, await bundle.readFile(path, MAX_DOCUMENT_BYTES), `${key}:${path}`);
  let statedHead: number | null;
  let asked: Asked;
  try {
    statedHead = (await document(verificationSchema, VERIFICATION)).stated_head;
    asked = askedBy(await document(custodySchema, CUSTODY));
    await bundle.checkIntegrity({
      onChunk: async (path, chunk) => {
        if (path !== EVIDENCE) return;
        reader.push(chunk);
        await listing.catchUp();
      },
    });
  } finally {
    await bundle.close();
  }
  if (reader.finish().defect !== null) return;
  const readAt = context.now().toISOString();
  const statement = { entryCount: null, headSequence: statedHead, headDigest: null, readAt };
  const { basis } = await listing.finish(asked, statement);
  if (basis.kind === 'listing' && basis.differences > 0)
    throw notOurs(key, `${basis.deviations[0]?.message ?? 'the entries differ'}: the service lists other entries now`);
}

/** When the package was asked for, as the transfer log says. The answer came before the next request was sent. */
function askedBy({ steps }: Custody): Asked {
  const at = steps.findIndex(({ step }) => step === 'generate');
  const exchange = steps[at]?.exchange;
  const askedAt = Date.parse(exchange?.requested_at ?? '');
  const answered = Date.parse(exchange?.date ?? '');
  const next = steps.slice(at + 1).find((step) => step.exchange !== undefined)?.exchange;
  const took = Date.parse(next?.requested_at ?? '') - askedAt;
  const askedAtByService = answered - took;
  return { askedAt, askedAtByService: Number.isNaN(askedAtByService) ? null : askedAtByService };
}
