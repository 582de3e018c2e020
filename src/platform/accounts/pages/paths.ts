import { PAGES } from '../../web/own-path.ts';

export const OWN_ACCOUNT = `${PAGES}/account`;
export const KEYS_PATH = `${PAGES}/keys`;
export const PEOPLE_PATH = `${PAGES}/people`;

export function keyPath(keyId: string): string {
  return `${KEYS_PATH}/${encodeURIComponent(keyId)}`;
}

export function invitationPath(linkId: string): string {
  return `${PEOPLE_PATH}/invitations/${encodeURIComponent(linkId)}`;
}

export function personPath(personId: string): string {
  return `${PEOPLE_PATH}/${encodeURIComponent(personId)}`;
}
