import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** What IANA hands out to hosts and sites of the public internet; outside of it nothing is anybody's (RFC 4291, 2.4). */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3')

/**
 * Whether an address, as a resolver or the URL parser writes it, is one of the public internet: unicast, in no range of
 * IANA's special-purpose registries (RFC 6890 and what came after it), and none that carries an IPv4 address inside it,
 * since whatever unwraps that one ends somewhere else: mapped, compatible, translated, NAT64, 6to4, Teredo, ISATAP.
 * Anything with a zone, and what is no address, is not.
 */
export function isPublic(address: string): boolean {
  if (isIP(address) === 0 || address.includes('%')) return false
  const parsed = ipaddr.parse(address)
  if (parsed.range() !== 'unicast') return false
  return parsed instanceof ipaddr.IPv4 || (parsed.match(GLOBAL_UNICAST) && !isIsatap(parsed))
}

/** The interface is called 0000:5efe or 0200:5efe, then an IPv4 address (RFC 5214, 6.1): in a prefix of anybody's. */
function isIsatap({ parts }: ipaddr.IPv6): boolean {
  return (parts[4]! & ~0x200) === 0 && parts[5] === 0x5efe
}

/** Whether an address lies in a network such as `10.0.0.0/8`. Families are kept apart: `::ffff:10.0.0.5` does not lie in this one. */
export function isWithin(address: string, network: string): boolean {
  if (isIP(address) === 0 || address.includes('%')) return false
  const parsed = ipaddr.parse(address)
  const [start, bits] = ipaddr.parseCIDR(network)
  return parsed.kind() === start.kind() && parsed.match(start, bits)
}
