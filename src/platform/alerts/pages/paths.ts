import { PAGES } from '../../web/own-path.ts';

export const ALERTS_PATH = `${PAGES}/alerts`;

export function alertChannelPath(alertChannelId: string, act: 'test' | 'remove'): string {
  return `${ALERTS_PATH}/${encodeURIComponent(alertChannelId)}/${act}`;
}

/** A path of the API, below the channels. */
export function channelsApi(...parts: readonly string[]): string {
  return ['/alerts/channels', ...parts.map(encodeURIComponent)].join('/');
}
