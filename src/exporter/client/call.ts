/** Expected form of an answer. */
export type Accepts = 'json' | 'pdf' | 'any';

/** Request, which may be sent several times. */
export interface Call {
  method: 'GET' | 'POST';
  /** Absolute URL of the transport's origin. */
  url: string;
  /** Body, sent as JSON. */
  body?: unknown;
  headers?: Record<string, string>;
  /** True if the request may be sent again although it may have arrived. */
  repeatable: boolean;
  /** Sends the request without the API key, as the public would. */
  withoutKey?: true;
}

/** Request for which some answers mean that the resource is not ready. */
export interface PollingCall extends Call {
  /** Statuses, failures or successes, that mean not ready. */
  notYet: ReadonlySet<number>;
}

export interface NotYet {
  notYet: { retryAfterMs: number | null };
}

/** Request that was sent, with the status and request id of its answer. */
export interface SentRequest {
  method: 'GET' | 'POST';
  /** URL without the key. */
  url: string;
  /** HTTP status; null if there was no answer. */
  status: number | null;
  requestId: string | null;
  startedAt: Date;
  /** Time at which the head of the answer arrived or the request failed. */
  endedAt: Date;
  /** Reason that there was no answer; null if there was one. */
  failure: string | null;
}
