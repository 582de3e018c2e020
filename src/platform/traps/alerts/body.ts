import type { WireDetection } from '../requests.ts';

/** What a webhook says. */
export interface AlertBody {
  type: 'trap.used' | 'trap.alert_test';
  timestamp: string;
  /** The detection as it stands now; null for one that tries the channel. */
  data: (WireDetection & { url: string }) | null;
}
