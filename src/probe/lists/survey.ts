import type { Description } from '../../verifier/profile/description.ts';
import type { List } from '../../verifier/profile/list-description.ts';
import type { Reasoning } from '../report.ts';
import type { ChainRoles, StreamSample } from '../roles/chain.ts';
import type { findTimestamp } from '../roles/entry.ts';
import type { Sample } from '../sample/sample.ts';
import type { StreamFilter } from './entries-list.ts';

export interface Chain {
  roles: ChainRoles;
  digest: Omit<Description['digest'], 'recipe'>;
  timestamp: ReturnType<typeof findTimestamp>;
  /** Field of an entry with its stream's id. */
  streamId: string | null;
}

export interface EntriesSurvey {
  list: List;
  streams: StreamSample[];
  samples: Sample[];
  idInEntry: string | null;
  filter: StreamFilter | null;
  exampleId: string;
  /** Infers the rest of the listing after the roles are known. */
  describe(chain: Chain, reasoning: Reasoning): Promise<Description['entries']>;
}
