// Which addresses of the network are public, and a look-up of names that answers nothing else. What users have us connect
// to goes through here at the moment of the connection: a name that was public a second ago may lead into our network now.
import { type LookupAddress, lookup as systemLookup } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'

/** Not reachable from the Internet, or not meant to be: the registries of special-purpose addresses of IANA. */
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
  // The service of Azure's hosts for their machines, which looks public.
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

/** All that is public of IPv6. Loopback, link-local, unique local, multicast, ::ffff: and NAT64 lie outside. */
const global = new BlockList()
global.addSubnet('2000::', 3, 'ipv6')

/** @param address an IPv4 or IPv6 address; anything else is not public. */
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

/** What a look-up fails with when a name has no address that may be connected to; the addresses stay untold. */
export const NOT_ACCEPTED = 'ERR_ADDRESS_NOT_ACCEPTED'

/**
 * A look-up for the `lookup` of sockets that answers only addresses which `accept` takes. The socket connects to what this
 * answers and asks nobody again, so what was checked is what is connected to. A socket for a literal address never looks
 * up: check that one beforehand.
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
