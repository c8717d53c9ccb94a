// The address of a client. Headers are trusted only from proxies that the operator named, because any client can
// send X-Forwarded-For, and an address that callers choose themselves would be a rate limit that they switch off.
import { BlockList, isIPv4, isIPv6, SocketAddress } from 'node:net'

/** Addresses and ranges of the proxies in front of the api. */
export type TrustedProxies = BlockList

/**
 * Reads TRUSTED_PROXIES: addresses and ranges (`10.0.0.0/8`, `fd00::/8`), separated by commas; empty for none.
 * @throws Error naming the entry that is wrong.
 */
export function parseTrustedProxies(text: string): TrustedProxies {
  const trusted = new BlockList()
  if (text.trim() === '') return trusted
  for (const entry of text.split(',').map((part) => part.trim())) {
    const range = readRange(entry)
    if (!range)
      throw new Error(
        `TRUSTED_PROXIES: "${entry}" is neither an address nor a range (write 192.168.1.7, ::1 or 10.0.0.0/8, with commas between)`
      )
    if (range.prefix === 0)
      throw new Error(
        `TRUSTED_PROXIES: "${entry}" trusts every client, which could then claim any address; name only the proxies`
      )
    trusted.addSubnet(range.address, range.prefix, familyOf(range.address))
  }
  return trusted
}

/**
 * The caller's address. It is the socket's, unless that is a trusted proxy; then it is the right-most hop of X-Forwarded-For
 * that is not a trusted proxy. Each proxy appends on the right, so hops further left are only the caller's claim. If a hop that
 * has to be read is not a valid address, the socket's address is used. IPv4 is returned as IPv4, even when it was mapped into
 * IPv6, and IPv6 in its short form. A socket that no longer has an address gives `unknown`.
 */
export function clientAddress(
  socketAddress: string | undefined,
  forwardedFor: string | string[] | undefined,
  trusted: TrustedProxies
): string {
  const peer = normalised(socketAddress ?? '')
  if (peer === null) return 'unknown'
  if (forwardedFor === undefined || !trusted.check(peer, familyOf(peer))) return peer
  const hops = [forwardedFor].flat().join(',').split(',')
  let client = peer
  for (const hop of hops.reverse()) {
    const address = normalised(withoutPort(hop.trim()))
    if (address === null) return peer
    client = address
    if (!trusted.check(address, familyOf(address))) break
  }
  return client
}

/** Whether the other end of a connection is a trusted proxy itself. */
export function isTrusted(socketAddress: string | undefined, trusted: TrustedProxies): boolean {
  const peer = normalised(socketAddress ?? '')
  return peer !== null && trusted.check(peer, familyOf(peer))
}

/** The key that an address counts under: IPv4 itself, IPv6 by its /64, since one subscriber owns all addresses of a /64. */
export function addressKey(address: string): string {
  if (!isIPv6(address)) return address
  const [head = '', tail] = address.split('::')
  const groups = (part: string | undefined) => (part ? part.split(':') : [])
  const [left, right] = [groups(head), groups(tail)]
  const zeros = tail === undefined ? 0 : 8 - left.length - right.length
  return `${[...left, ...Array(zeros).fill('0'), ...right].slice(0, 4).join(':')}::/64`
}

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIPv4(address) ? 'ipv4' : 'ipv6')

/** One spelling per address; `null` for a text that is not an address. */
function normalised(text: string): string | null {
  if (isIPv4(text)) return text
  if (!isIPv6(text)) return null
  // A zone (`fe80::1%eth0`) names an interface of one machine, not another caller.
  const { address } = new SocketAddress({ address: text.split('%')[0]!, family: 'ipv6' })
  const mapped = /^::ffff:([\d.]+)$/.exec(address)?.[1]
  return mapped && isIPv4(mapped) ? mapped : address
}

/** Some proxies append the port: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
function withoutPort(hop: string): string {
  const match = /^(?:\[([^\]]*:[^\]]*)\]|([\d.]+))(?::\d{1,5})?$/.exec(hop)
  return match?.[1] ?? match?.[2] ?? hop
}

function readRange(entry: string): { address: string; prefix: number } | null {
  const match = /^([\da-f.:]+)(?:\/(\d{1,3}))?$/i.exec(entry)
  const address = match && normalised(match[1]!)
  if (!address) return null
  const bits = isIPv4(address) ? 32 : 128
  // `::ffff:10.0.0.0/104` is 10.0.0.0/8.
  const written = isIPv6(match[1]!) ? 128 : 32
  const prefix = Number(match[2] ?? written) - (written - bits)
  return prefix >= 0 && prefix <= bits ? { address, prefix } : null
}
