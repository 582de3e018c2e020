import { PAGES, pathsBelow } from '../../web/own-path.ts';

export const OWN_ACCOUNT = `${PAGES}/account`;
export const KEYS_PATH = `${PAGES}/keys`;
export const PEOPLE_PATH = `${PAGES}/people`;

export const makerPath = pathsBelow(`${KEYS_PATH}/makers`);
export const keyPath = pathsBelow(KEYS_PATH);
export const invitationPath = pathsBelow(`${PEOPLE_PATH}/invitations`);
export const signUpPath = pathsBelow(`${PEOPLE_PATH}/sign-ups`);
export const personPath = pathsBelow(PEOPLE_PATH);
