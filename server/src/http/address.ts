/** Finds the client's address: the other end of the connection or, behind trusted proxies, the address they name (TRUSTED_PROXIES). */
import { BlockList, isIP } from 'node:net'

/** @param ranges addresses (`10.0.0.1`) and networks (`10.0.0.0/8`, `fd00::/8`) that config.ts has validated */
export function clientAddressReader(
  ranges: readonly string[],
): (peer: string | undefined, forwardedFor: string | null) => string {
  const trusted = new BlockList()
  for (const range of ranges) {
    const [network = '', length] = range.split('/')
    const family = isIP(network) === 6 ? 'ipv6' : 'ipv4'
    if (length === undefined) trusted.addAddress(network, family)
    else trusted.addSubnet(network, Number(length), family)
  }
  const isTrusted = (address: string): boolean => trusted.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')

  return (peer, forwardedFor) => {
    if (peer === undefined) return 'local'
    let address = withoutMapping(peer)
    // Each proxy appends the address that called it, so the last entry that is not a trusted proxy is the client.
    const entries = forwardedFor?.split(',') ?? []
    while (isIP(address) !== 0 && isTrusted(address)) {
      const named = addressIn(entries.pop() ?? '')
      if (named === undefined) break
      address = named
    }
    return toNetwork(address)
  }
}

/** Parses `192.0.2.1`, `192.0.2.1:4711`, `2001:db8::1` or `[2001:db8::1]:4711`. Returns `undefined` for any other text. */
function addressIn(entry: string): string | undefined {
  const text = entry.trim()
  const [, bracketed, plain] = /^(?:\[([^\]]+)\](?::\d+)?|([^:]+)(?::\d+)?)$/.exec(text) ?? []
  const address = withoutMapping(bracketed ?? plain ?? text)
  return isIP(address) === 0 ? undefined : address
}

function withoutMapping(address: string): string {
  const plain = address.split('%')[0] ?? ''
  return /^::ffff:/i.test(plain) && plain.includes('.') ? plain.slice('::ffff:'.length) : plain
}

/** Returns an IPv4 address as it is, and of an IPv6 address the /64 network, which belongs to one subscriber (RFC 6177). */
function toNetwork(address: string): string {
  return isIP(address) === 6 ? `${expandIpv6(address).slice(0, 4).join(':')}::/64` : address
}

function expandIpv6(address: string): string[] {
  const [head = '', tail] = address.toLowerCase().split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  const all = [...left, ...Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0'), ...right]
  return all.map((group) => group.replace(/^0+(?=.)/, ''))
}
