import type { Description } from '../../verifier/profile/description.ts';
import type { List } from '../../verifier/profile/list-description.ts';

/** Returns the list with another page size, if the service supports page sizes. */
export function withPageSize<L extends List>(list: L, size: number): L {
  return list.limit === null ? list : { ...list, limit: { ...list.limit, size } };
}

/** Returns the contract with another page size for all lists except the list of entries. */
export function withPageSizes(description: Description, size: number): Description {
  const { streams, supplements } = description;
  return {
    ...description,
    streams: withPageSize(streams, size),
    ...(supplements === undefined ? {} : { supplements: supplementsIn(supplements, size) }),
  };
}

type Supplements = NonNullable<Description['supplements']>;

function supplementsIn({ audit, traps, endpoints, agents }: Supplements, size: number): Supplements {
  return {
    audit,
    traps: traps && { ...traps, detections: withPageSize(traps.detections, size) },
    endpoints: endpoints && {
      ...endpoints,
      events: withPageSize(endpoints.events, size),
      scans: endpoints.scans && withPageSize(endpoints.scans, size),
    },
    agents: agents && {
      ...agents,
      agents: withPageSize(agents.agents, size),
      actions: withPageSize(agents.actions, size),
    },
  };
}
