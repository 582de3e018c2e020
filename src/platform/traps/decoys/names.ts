import { randomInt } from 'node:crypto';

/** Words for names inside a company. */
const STAGES = ['prod', 'prd', 'live', 'int', 'stg', 'core'];
const SITES = ['fra', 'ams', 'dub', 'lon', 'iad', 'sea', 'par', 'zrh', 'waw', 'mad'];
const APPLICATIONS = ['orders', 'billing', 'ledger', 'catalog', 'customers', 'payments', 'inventory', 'reporting'];

export function pickOne<T>(among: readonly T[]): T {
  return among[randomInt(among.length)] as T;
}

export function randomApplication(): string {
  return pickOne(APPLICATIONS);
}

export const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Returns random characters, from base62 by default. */
export function randomText(length: number, alphabet = BASE62): string {
  return Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('');
}

/**
 * Returns the name of a machine, as administrators choose them: `db-prod-07`, `fra-db-3`. @param role of the machine.
 */
export function randomHostName(role: string): string {
  const number = randomInt(1, 40);
  const padded = String(number).padStart(2, '0');
  return pickOne([
    `${role}-${pickOne(STAGES)}-${padded}`,
    `${pickOne(SITES)}-${role}-${number}`,
    `${role}${padded}-${pickOne(SITES)}`,
    `${pickOne(SITES)}${randomInt(1, 5)}-${pickOne(STAGES)}-${role}${padded}`,
  ]);
}
