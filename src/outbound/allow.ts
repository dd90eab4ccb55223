import { isIP } from 'node:net'

/**
 * One place that whoever runs Done has opened: a host by name (`hooks.lan`, or `*.lan` for every name below it) or a
 * network by address (`10.0.0.0/8`, one address as `/32` or `/128`). Without a port it is the one of the scheme.
 */
export type Allowed = { port?: number } & ({ host: string } | { network: string })

/**
 * The entries of a list such as `hooks.lan:8443,*.example.org,10.0.0.0/8,[fd00::5]:8080`. Throws on what is neither a host
 * name, nor an address, nor a network. Needs nothing but Node, since every command reads its settings.
 */
export function readAllowed(list: string): Allowed[] {
  return list
    .split(',')
    .map((entry) => entry.trim())
    .filter(Boolean)
    .map((entry) => {
      const [place, port] = splitPort(entry)
      const found = place === undefined ? undefined : (networkOf(place) ?? hostOf(place))
      if (!found || (port !== undefined && (port < 1 || port > 65_535))) {
        throw new Error(
          `"${entry}" is neither a host name, nor an address, nor a network. Give --allow-outbound (DONE_ALLOW_OUTBOUND) as in hooks.lan:8443,*.example.org,10.0.0.0/8,[fd00::5]:8080.`,
        )
      }
      return port === undefined ? found : { ...found, port }
    })
}

function splitPort(entry: string): [place?: string, port?: number] {
  if (isIP(entry.split('/')[0]!) === 6) return [entry]
  const [, inBrackets, plain, port] = /^(?:\[([^\]]*:[^\]]*)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(entry) ?? []
  const place = inBrackets ?? plain
  return place === undefined ? [] : port === undefined ? [place] : [place, Number(port)]
}

function networkOf(place: string): { network: string } | undefined {
  const [address = '', bits, ...rest] = place.split('/')
  const most = isIP(address) === 4 ? 32 : 128
  if (isIP(address) === 0 || address.includes('%') || rest.length > 0) return undefined
  if (bits === undefined) return { network: `${address}/${most}` }
  return /^\d{1,3}$/.test(bits) && Number(bits) <= most ? { network: place } : undefined
}

/** A name as the URL parser writes it, so that the two can be compared. It takes `127.1` for an address, and so no name. */
function hostOf(place: string): { host: string } | undefined {
  const [, below = '', name = ''] = /^(\*\.)?(.*)$/.exec(place) ?? []
  if (!URL.canParse(`https://${name}/`)) return undefined
  const { hostname, href } = new URL(`https://${name}/`)
  const whole = href === `https://${hostname}/` && isIP(hostname) === 0
  return whole && /^[\w-]+(\.[\w-]+)*$/.test(hostname) ? { host: below + hostname } : undefined
}
