/**
 * One request and its answer, as the chain of custody records it. Never the request's headers: they hold the key.
 */
export interface Exchange {
  method: 'GET' | 'POST';
  /** Path and query, without the origin. */
  path: string;
  requested_at: string;
  status: number;
  /** The answer's Date header: the service's own clock. */
  date: string | null;
  request_id: string | null;
  /** How often it was tried, this one included. */
  attempts: number;
  bytes: number;
  /** SHA-256 of the answer's body. */
  sha256: string;
}
