import type { PackageExpectation } from '../../verifier/chain/package.ts';
import type { NotedEntries } from '../../verifier/verify/noted-entries.ts';
import type { ListingCheck } from './listing.ts';

type Observers = Pick<PackageExpectation, 'onEntry' | 'onSent'>;

/** Returns the observers of the entries of a stream as they are read: each of the two, where it is there. */
export function observersOf(notes: NotedEntries | null, listing: ListingCheck | null): Observers {
  if (listing === null && notes === null) return {};
  return {
    onEntry: (entry) => {
      notes?.onEntry(entry);
      listing?.add(entry);
    },
    onSent: (entries) => {
      notes?.onSent(entries);
      // The listing looks at them later.
      if (listing === null) entries.release();
      else listing.addSent(entries);
    },
  };
}
