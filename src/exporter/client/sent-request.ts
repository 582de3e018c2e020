/** A request that was sent, and the head of its answer; nothing of the headers but the id that the service gave it. */
export interface SentRequest {
  method: 'GET' | 'POST';
  /** Without the key. */
  url: string;
  /** Null where there was no answer. */
  status: number | null;
  requestId: string | null;
  startedAt: Date;
  /** When the head of the answer came, or the request failed. */
  endedAt: Date;
  /** The reason that there was no answer; null if there was one. */
  failure: string | null;
}
