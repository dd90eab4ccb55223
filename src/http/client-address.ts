import { BlockList, isIP } from 'node:net'

/** Finds where a request comes from: of the connection's address and the header `X-Forwarded-For`. */
export type ClientAddress = (connection: string, forwarded: string | undefined) => string

/**
 * Believes the header as far as it was written by proxies that are trusted, given as addresses and networks
 * (`10.0.0.0/8`): from its end to the first address that is none of them. Anybody can send the header, so without proxies
 * it means nothing. Throws on what is neither an address nor a network.
 */
export function clientAddress(proxies: readonly string[]): ClientAddress {
  const trusted = new BlockList()
  for (const proxy of proxies) trust(trusted, proxy)

  return (connection, forwarded = '') => {
    const hops = forwarded.split(',').map((hop) => plain(hop.trim()))
    let client = plain(connection)
    while (hops.length > 0 && isTrusted(trusted, client)) {
      const before = hops.pop()!
      if (isIP(before) === 0) break
      client = before
    }
    return client
  }
}

function trust(list: BlockList, proxy: string): void {
  const [address = '', bits, ...rest] = proxy.split('/')
  const family = familyOf(address)
  const most = family === 'ipv4' ? 32 : 128
  if (
    isIP(address) === 0 ||
    rest.length > 0 ||
    (bits !== undefined && !(/^\d+$/.test(bits) && +bits <= most))
  )
    throw new Error(
      `"${proxy}" is neither an address nor a network. Give DONE_TRUSTED_PROXIES as in 10.0.0.5,10.1.0.0/16.`,
    )
  if (bits === undefined) list.addAddress(address, family)
  else list.addSubnet(address, Number(bits), family)
}

const isTrusted = (list: BlockList, address: string): boolean =>
  isIP(address) !== 0 && list.check(address, familyOf(address))

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4')

/** An IPv4 address as itself where a socket of both families has it as `::ffff:10.0.0.5`. */
const plain = (address: string): string => address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '')
