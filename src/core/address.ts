/** RFC 4291 section 2.5.5.2: an address of IPv4 as a socket of both kinds sees it. */
const MAPPED = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/i;

/** An address of IPv4 as one, also where it came over IPv6; any other as it is. */
export function plainAddress(address: string): string {
  return MAPPED.exec(address)?.[1] ?? address;
}
