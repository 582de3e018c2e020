import type { Markup } from '../../../core/html/markup.ts';
import { statusWord } from '../../web/components.ts';
import type { ApiKey } from '../api-keys.ts';

const SOON_MS = 14 * 24 * 60 * 60 * 1000;

/** The state of a key, in a word. */
export function keyState(key: ApiKey, now: Date): Markup {
  if (key.revoked_at !== null) return statusWord('neutral', 'revoked');
  if (key.expires_at === null) return statusWord('good', 'good');
  const left = Date.parse(key.expires_at) - now.getTime();
  if (left <= 0) return statusWord('neutral', 'expired');
  return left < SOON_MS ? statusWord('warning', 'ends soon') : statusWord('good', 'good');
}

export function isGood({ revoked_at, expires_at }: ApiKey, now: Date): boolean {
  return revoked_at === null && (expires_at === null || expires_at > now.toISOString());
}
