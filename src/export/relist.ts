import { type Verification, verificationSchema } from '../bundle/documents.ts';
import { VERIFICATION } from '../bundle/files.ts';
import { openBundle } from '../bundle/read.ts';
import { PackageReader } from '../chain/package.ts';
import { readRecord, type StreamRecord, type Unbound } from '../ledger/record.ts';
import type { ExportContext } from './context.ts';
import { ListingCheck, whyNotListed } from './listing.ts';
import type { ListedStream } from './plan.ts';
import { notOurs } from './records.ts';

const EVIDENCE = 'data/evidence.json';
const MAX_VERIFICATION_BYTES = 256 * 2 ** 20;

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
  const listing = new ListingCheck(client, streamId, packagePeriod);
  const reader = new PackageReader(contract, sealKeys, {
    streamId,
    onEntry: (entry) => listing.add(entry),
    onSent: (entries) => listing.addSent(entries),
  });
  const bundle = await openBundle(file, {}, key);
  let stated: Verification;
  try {
    stated = readRecord(verificationSchema, await bundle.readFile(VERIFICATION, MAX_VERIFICATION_BYTES), key);
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
  const { defect } = reader.finish();
  if (defect !== null) return;
  const statement = { entryCount: null, headSequence: stated.stated_head, headDigest: null };
  // What was recorded behind the head of then need not be in it.
  const basis = await listing.finish({ askedAt: 0, askedAtByService: null }, statement);
  if (basis.kind === 'listing' && basis.differences > 0)
    throw notOurs(key, `${basis.deviations[0]?.message ?? 'the entries differ'}: the service lists other entries now`);
}
