import { BlockList, isIP } from 'node:net';

/** Addresses that are not globally reachable: RFC 6890 and its successors, IPv4 and IPv6. */
const INSIDE = new BlockList();
for (const [network, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const)
  INSIDE.addSubnet(network, bits, 'ipv4');
for (const [network, bits] of [
  ['::', 128],
  ['::1', 128],
  // IPv4 embedded in IPv6 by translation or tunnels, whose target is not checked here.
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
] as const)
  INSIDE.addSubnet(network, bits, 'ipv6');

/** Reports whether an address is globally reachable. */
export function isPublic(address: string): boolean {
  const family = isIP(address);
  if (family === 0) return false;
  // The block list maps an IPv4-mapped IPv6 address to IPv4 by itself.
  return !INSIDE.check(address, family === 4 ? 'ipv4' : 'ipv6');
}
