/** IPv4-mapped address (RFC 4291 section 2.5.5.2), in which a dual-stack socket reports an IPv4 peer. */
const MAPPED = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/i;

/** Returns an IPv4 address in its own form, even if it arrived over IPv6; returns any other address unchanged. */
export function plainAddress(address: string): string {
  return MAPPED.exec(address)?.[1] ?? address;
}
