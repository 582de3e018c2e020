import type { NotedStreams } from '../../verifier/verify/noted-streams.ts';
import type { CollectedSupplements } from '../supplements/collect.ts';
import type { SupplementSource } from '../supplements/source.ts';

/** The evidence of the other services, and the entries that it names, noted while streams are read. */
export interface OpenSupplements {
  source: SupplementSource;
  collected: CollectedSupplements;
  notes: NotedStreams;
  /** For what is made of them. */
  folder: string;
}
