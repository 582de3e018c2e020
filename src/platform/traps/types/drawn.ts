import { randomBytes, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { DecoyPlace } from '../decoys/decoy.ts';
import { BASE62, pickOne, randomText } from '../decoys/names.ts';
import type { TrapMark } from '../use.ts';

/** Draws an access token of a self-managed GitLab. */
export function drawGitlabToken(): string {
  return `glpat-${randomText(20)}`;
}

/** Draws the user that GitLab creates for a project's access token: `project_{id}_bot_{hex}`. */
export function drawProjectUser(): string {
  return `project_${randomInt(100, 9000)}_bot_${randomBytes(16).toString('hex')}`;
}

/** Draws the token of a Grafana service account, which ends with the CRC-32 of the part before. */
export function drawGrafanaToken(): string {
  const random = randomText(32);
  return `glsa_${random}_${crc32(random).toString(16).padStart(8, '0')}`;
}

/**
 * Draws an npm token. The last six characters are the CRC-32 of the thirty before them, in base 62, as GitHub defines
 * it.
 */
export function drawNpmToken(): string {
  const random = randomText(30);
  let checksum = '';
  for (let left = crc32(random); left > 0; left = Math.floor(left / 62)) checksum = `${BASE62[left % 62]}${checksum}`;
  return `npm_${random}${checksum.padStart(6, '0')}`;
}

/** Returns the marks of a login: its secret and its name. */
export function loginMarks(secret: string, name: string): TrapMark[] {
  return [
    { kind: 'bearer', value: secret },
    { kind: 'basic', value: name },
  ];
}

const WORK = ['billing', 'catalog', 'deploy', 'export', 'inventory', 'ledger', 'orders', 'reports', 'search', 'sync'];

/** Draws the name of an automated program. */
export function drawWork(): string {
  return pickOne(WORK);
}

/** Draws a unique account name of such a program. */
export function drawServiceName(): string {
  return `svc-${drawWork()}-${randomBytes(4).toString('hex')}`;
}

/** Returns `host`, or `host:port` if the port is not the default. */
export function authorityOf({ host, port, isPlain }: DecoyPlace): string {
  const name = host.includes(':') ? `[${host}]` : host;
  return port === (isPlain === true ? 80 : 443) ? name : `${name}:${port}`;
}

/** Returns `https://host:port`. @param user name and password to include in the address. */
export function decoyOrigin(decoy: DecoyPlace, user?: { name: string; password: string }): string {
  const login = user === undefined ? '' : `${user.name}:${user.password}@`;
  return `${decoy.isPlain === true ? 'http' : 'https'}://${login}${authorityOf(decoy)}`;
}

/** Returns the hint for clients that must be configured to trust a decoy's certificate. */
export function trustHint({ authority }: DecoyPlace, how: string): string {
  return authority === null ? '' : ` The certificate of the decoy is self-made: ${how}`;
}
