// Decides which network addresses are public, and looks up names with only such results. Connections to addresses from users
// are checked here at the moment of the connection: a name that was public a second ago can point into our network now.
import { type LookupAddress, lookup as systemLookup } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'

/** Not reachable from the Internet, or not meant to be. Source: IANA's registries of special-purpose addresses. */
const special = new BlockList()
for (const [network, prefix] of [
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
  // Multicast, reserved, broadcast.
  ['224.0.0.0', 3],
  // A service of Azure's hosts for their machines; it looks public.
  ['168.63.129.16', 32]
] as const)
  special.addSubnet(network, prefix, 'ipv4')
// Teredo, benchmarks and other protocols; documentation; 6to4, which holds an IPv4 address.
for (const [network, prefix] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20]
] as const)
  special.addSubnet(network, prefix, 'ipv6')

/** The public part of IPv6. Loopback, link-local, unique local, multicast, ::ffff: and NAT64 are outside. */
const global = new BlockList()
global.addSubnet('2000::', 3, 'ipv6')

/** @param address an IPv4 or IPv6 address; any other text is not public. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address)
  if (family === 4) return !special.check(address, 'ipv4')
  return family === 6 && global.check(address, 'ipv6') && !special.check(address, 'ipv6')
}

/** The host of a URL as an address without brackets; `null` when it is a name. */
export function literalAddress(url: URL): string | null {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  return isIP(host) ? host : null
}

export type Resolve = (
  hostname: string,
  options: { all: true },
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void
) => void

/** The code of a look-up that finds no acceptable address; the addresses found are not revealed. */
export const NOT_ACCEPTED = 'ERR_ADDRESS_NOT_ACCEPTED'

/**
 * A `lookup` for sockets that returns only addresses that `accept` allows. The socket connects to the returned address
 * without another look-up, so the address checked is the address used. A socket for a literal address does no look-up: check
 * that address beforehand.
 */
export function lookupOf(accept: (address: string) => boolean, resolve: Resolve = systemLookup): LookupFunction {
  return (hostname, options, done) =>
    resolve(hostname, { all: true }, (error, found) => {
      if (error) return done(error, '')
      const addresses = found.filter(({ address }) => accept(address))
      const [first] = addresses
      if (!first) return done(Object.assign(new Error(`${hostname}: no such address`), { code: NOT_ACCEPTED }), '')
      if (options.all) done(null, addresses)
      else done(null, first.address, first.family)
    })
}
