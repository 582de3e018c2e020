import { readHttpDate } from '../../core/http-date.ts';
import type { TransferLog, Verification } from '../../verifier/bundle/documents.ts';
import type { JudgedBundle } from '../../verifier/verify/content.ts';
import type { EntryWatch } from '../../verifier/verify/reading.ts';
import type { ExportContext } from './context.ts';
import { ListingCheck, whyNotListed } from './listing.ts';
import type { FindListed } from './plan.ts';
import type { AskedAt } from './received.ts';
import { notOurs } from './records.ts';

/**
 * Compares the entries of a stored bundle with the service's present listing while the bundle is verified. Does nothing
 * if the service does not list entries.
 */
export class Relisting {
  readonly #context: ExportContext;
  readonly #find: FindListed;
  #listing: ListingCheck | null = null;

  /** @param find returns a stream as the service lists it now. */
  constructor(context: ExportContext, find: FindListed) {
    this.#context = context;
    this.#find = find;
  }

  /** Returns null if nothing is to be listed, or if the bundle already records a difference from the listing. */
  begin({ verdict }: Verification): EntryWatch | null {
    const { client, contract, packagePeriod } = this.#context.service;
    const { completeness } = this.#context.question.scope;
    const stream = this.#find(verdict.stream_id);
    const isListed =
      stream !== undefined &&
      client.listsEntries &&
      contract.scope !== 'account' &&
      completeness === 'listing' &&
      whyNotListed(completeness, stream) === null;
    if (!isListed || verdict.claims.completeness.state === 'refuted') return null;
    const listing = new ListingCheck(client, stream, packagePeriod, null);
    this.#listing = listing;
    return {
      onEntry: (entry) => listing.add(entry),
      onSent: (entries) => listing.addSent(entries),
      catchUp: () => listing.catchUp(),
    };
  }

  /** @throws EvidenceError `conflict` if the entries differ although they did not when the bundle was packed. */
  async finish({ walk, transferLog, stated }: JudgedBundle, key: string): Promise<void> {
    if (this.#listing === null || walk === null || transferLog === null) return;
    const { basis } = await this.#listing.finish(askedBy(transferLog), stated.statement.head.sequence);
    if (basis.kind === 'listing' && basis.differences > 0)
      throw notOurs(
        key,
        `${basis.deviations[0]?.message ?? 'the entries differ'}: the service now lists different entries`,
      );
  }
}

/**
 * Returns when the package was requested, according to the transfer log. The answer came before the next request was
 * sent, which bounds its duration.
 */
function askedBy({ steps }: TransferLog): AskedAt {
  const at = steps.findIndex(({ step }) => step === 'generate');
  const exchange = steps[at]?.exchange;
  const askedAt = Date.parse(exchange?.requested_at ?? '');
  const answered = readHttpDate(exchange?.date ?? null) ?? Number.NaN;
  const next = steps.slice(at + 1).find((step) => step.exchange !== undefined)?.exchange;
  const took = Date.parse(next?.requested_at ?? '') - askedAt;
  const askedAtByService = answered - took;
  return { askedAt, askedAtByService: Number.isNaN(askedAtByService) ? null : askedAtByService };
}
