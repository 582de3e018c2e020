import { randomUUID } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Custody } from '../bundle/documents.ts';
import { formFileName } from '../bundle/documents.ts';
import { asPart, PackageReader, type PackageReading } from '../chain/package.ts';
import type { VendorVerdict } from '../claims/agreement.ts';
import type { CompletenessBasis } from '../claims/completeness.ts';
import type { Form } from '../client/audit.ts';
import { EvidenceError, isEvidenceError } from '../errors.ts';
import type { ExportContext, RunState } from './context.ts';
import type { Step } from './events.ts';
import { ListingCheck, whyNotListed } from './listing.ts';
import type { ListedStream } from './plan.ts';

export const FORMS: readonly Form[] = ['json', 'pdf', 'summary'];

/** A form as it lies on disk, whole or as far as it came. */
export interface ReceivedFile {
  form: Form;
  /** Its place in the bundle. */
  path: string;
  file: string;
  bytes: number;
  /** Unknown for a part. */
  sha256: string | null;
}

export interface Received {
  packageId: string;
  reading: PackageReading;
  files: ReceivedFile[];
  missing: { form: Form; reason: string }[];
  completeness: CompletenessBasis;
  /** The head's sequence number in the service's list of streams. */
  statedHead: number;
}

/** What watches the JSON form arrive, from its first byte on. */
interface JsonWatch {
  reader: PackageReader;
  /** Null when the stream is not listed. */
  listing: ListingCheck | null;
}

/** One stream's dealings with the service, each noted for the chain of custody. */
export class Collection {
  readonly custody: Custody['steps'] = [];
  readonly #context: ExportContext;
  readonly #run: RunState;
  readonly #stream: ListedStream;
  readonly #streamId: string;
  readonly #folder: string;

  constructor(context: ExportContext, run: RunState, stream: ListedStream, folder: string) {
    this.#context = context;
    this.#run = run;
    this.#stream = stream;
    this.#streamId = stream.streamId;
    this.#folder = folder;
  }

  /** Has the service check the stream itself; that it cannot is noted and costs only the comparison. */
  async askVendor(): Promise<VendorVerdict | null> {
    this.#announce('vendor-verify');
    try {
      const { verification, exchange } = await this.#context.client.verifyStream(this.#streamId);
      this.custody.push({ step: 'vendor-verify', exchange });
      return {
        verified: verification.verified,
        checked_at: verification.checked_at,
        failed_sequences: [...new Set(verification.failures.map((failure) => failure.sequence))].slice(0, 1000),
      };
    } catch (error) {
      this.#note('vendor-verify', error);
      return null;
    }
  }

  /** The id of a package that is ready to be downloaded. */
  async generate(): Promise<string> {
    this.#announce('generate');
    const { client, period } = this.#context;
    const { generated, exchange } = await client.generate(this.#streamId, period, randomUUID());
    this.custody.push({ step: 'generate', exchange });
    if (generated.stream_id !== this.#streamId)
      throw new EvidenceError('service', `a package of the stream "${generated.stream_id}" was generated instead`);
    let { status } = generated;
    const deadline = Date.now() + READY_WITHIN_MS;
    if (status === 'pending') this.#announce('wait');
    while (status === 'pending') {
      if (Date.now() > deadline)
        throw new EvidenceError('unreachable', `package ${generated.package_id} is still not ready after 10 minutes`);
      await sleep(POLL_MS, undefined, { signal: this.#context.signal });
      status = (await client.packageStatus(generated.package_id)).status;
    }
    return generated.package_id;
  }

  /** All three forms; the chain is walked while the JSON form arrives. */
  async receive(packageId: string): Promise<Received> {
    const files: ReceivedFile[] = [];
    const missing: Received['missing'] = [];
    let watch = this.#watchJson(packageId);
    for (const form of FORMS) {
      this.#announce(form);
      const file = join(this.#folder, form);
      const observer = {
        restart: () => {
          if (form === 'json') watch = this.#watchJson(packageId);
        },
        chunk: async (chunk: Uint8Array) => {
          this.#context.listen({ type: 'received', streamId: this.#streamId, form, bytes: chunk.length });
          if (form !== 'json') return;
          watch.reader.push(chunk);
          await watch.listing?.catchUp();
        },
      };
      try {
        const { exchange, contentType } = await this.#context.client.download(packageId, form, file, observer);
        const path = formFileName(form, contentType);
        files.push({ form, path, file, bytes: exchange.bytes, sha256: exchange.sha256 });
        this.custody.push({ step: form, file: path, exchange });
      } catch (error) {
        const reason = this.#note(form, error);
        missing.push({ form, reason });
        // What arrived is kept, under a name that says that it is not the whole.
        if ((await sizeOf(file)) > 0)
          files.push({ form, path: `${formFileName(form, '')}.part`, file, bytes: await sizeOf(file), sha256: null });
      }
    }
    const reading = endReading(watch.reader, missing);
    return {
      packageId,
      reading,
      files,
      missing,
      completeness: await this.#endListing(watch, reading),
      statedHead: this.#stream.headSequence,
    };
  }

  #watchJson(packageId: string): JsonWatch {
    const { contract, sealKeys, client, completeness, period } = this.#context;
    const { streamId, headSequence } = this.#stream;
    const listed = completeness !== 'off' && whyNotListed(completeness, this.#stream) === null;
    const listing = listed ? new ListingCheck(streamId, client.listEntries(streamId, period)) : null;
    const earlier = this.#run.heads.get(streamId);
    const reader = new PackageReader(contract, sealKeys, {
      streamId,
      packageId,
      watch: () => [headSequence, ...(earlier === undefined ? [] : [earlier.sequence])],
      onEntry: (entry) => listing?.add(entry),
    });
    return { reader, listing };
  }

  async #endListing({ listing }: JsonWatch, { defect, facts }: PackageReading): Promise<CompletenessBasis> {
    const { streamId: _id, ...statement } = this.#stream;
    const { completeness } = this.#context;
    if (completeness === 'off') return { kind: 'none', why: 'verify.completeness is "off"' };
    if (defect !== null) return { kind: 'none', why: 'the JSON form could not be read' };
    const why = whyNotListed(completeness, this.#stream);
    if (listing === null) return { kind: 'record', why: why ?? '', statement };
    this.#announce('listing');
    const basis = await listing.finish(facts?.generatedAt ?? null, statement);
    this.custody.push({
      step: 'listing',
      ...(basis.kind === 'record' ? { failure: basis.why } : { note: listing.note }),
    });
    return basis;
  }

  #announce(step: Step): void {
    this.#context.signal.throwIfAborted();
    this.#context.listen({ type: 'step', streamId: this.#streamId, step });
  }

  /** A step that failed without ending the journey; defects and interruptions do end it. */
  #note(step: Step, error: unknown): string {
    if (!isEvidenceError(error) || error.code === 'interrupted') throw error;
    this.custody.push({ step, failure: error.message });
    this.#context.listen({ type: 'problem', streamId: this.#streamId, step, message: error.message });
    return error.message;
  }
}

function endReading(reader: PackageReader, missing: Received['missing']): PackageReading {
  const reading = reader.finish();
  const absent = missing.find(({ form }) => form === 'json');
  return absent === undefined ? reading : asPart(reading, absent.reason);
}

const READY_WITHIN_MS = 10 * 60_000;
const POLL_MS = 1000;

async function sizeOf(file: string): Promise<number> {
  try {
    return (await stat(file)).size;
  } catch {
    return 0;
  }
}
