/**
 * Sends one POST to a URL that an admin has typed, without letting it reach the servers' own network (SSRF): every IP address that the host
 * name resolves to is checked, and the connection goes to the first of them that accepts one. Redirects are not followed, and only the
 * status of the answer is read.
 */
import type { LookupAddress } from 'node:dns'
import { lookup } from 'node:dns/promises'
import http from 'node:http'
import https from 'node:https'
import { BlockList, connect, isIP, type Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { connect as connectTls } from 'node:tls'

/** Interim answers (RFC 9110, 15.2) that a receiver may send before the final one. Endless ones would keep the server busy. */
const MAX_INTERIM_ANSWERS = 4
/** Bytes that Node's parser gets at once: some interim answers more than are allowed, but not two thousand. */
const PIECE_BYTES = 1024
/** Bytes before the end of the final answer's headers: as many as Node accepts in all headers. It does not count the blank lines before them. */
const MAX_BYTES = (MAX_INTERIM_ANSWERS + 1) * http.maxHeaderSize

export interface PostOptions {
  /** Networks that the POST may reach although they are not public, such as `10.0.0.0/8`. */
  networks: readonly string[]
  timeoutMs: number
  /** Looks up the addresses of a host name; tests give a name several. */
  addressesOf?: (host: string) => Promise<LookupAddress[]>
}

/** @returns the status of the answer @throws Error whose message is a sentence for operators */
export async function post(
  { url, headers, body }: { url: string; headers: Record<string, string>; body: string },
  { networks, timeoutMs, addressesOf = lookupAll }: PostOptions,
): Promise<number> {
  const signal = AbortSignal.timeout(timeoutMs)
  const target = new URL(url)
  const host = hostOf(target)
  const late = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error(`No answer within ${timeoutMs / 1000} s`)))
  })
  late.catch(() => {})
  const addresses = await Promise.race([checkedAddresses(target, { networks, addressesOf }), late])
  const isHttps = target.protocol === 'https:'
  const hostAndPort = {
    host,
    port: target.port === '' ? (isHttps ? 443 : 80) : Number(target.port),
    // No second lookup, which might find an unchecked address. Node connects to one address after the other (RFC 8305) until one accepts;
    // nothing is sent before. The share of the time that is left after the last one is for the answer.
    lookup: (_host: string, _options: unknown, found: (error: null, addresses: LookupAddress[]) => void) =>
      found(null, addresses),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: Math.ceil(timeoutMs / (addresses.length + 1)),
  }
  // The certificate must be valid for the host name, not for the IP address. An IP address is not a server name (RFC 6066, 3).
  const servername = isIP(host) === 0 && { servername: host }
  return Promise.race([
    late,
    new Promise<number>((resolve, reject) => {
      const giveUp = (reason: string): void => {
        reject(new Error(reason))
        request.destroy()
      }
      const giveUpOnBytes = (): void => giveUp(`More than ${MAX_BYTES / 1024} kB came before the end of the headers`)
      const request = (isHttps ? https : http).request(
        {
          path: target.pathname + target.search,
          method: 'POST',
          signal,
          createConnection: () =>
            inPieces(isHttps ? connectTls({ ...hostAndPort, ...servername }) : connect(hostAndPort), giveUpOnBytes),
          headers: { ...headers, host: target.host, 'content-length': String(Buffer.byteLength(body)), connection: 'close' },
        },
        (response) => {
          resolve(response.statusCode ?? 0)
          response.destroy()
        },
      )
      let interim = 0
      request.on('information', () => {
        interim += 1
        if (interim > MAX_INTERIM_ANSWERS) giveUp(`More than ${MAX_INTERIM_ANSWERS} interim answers came instead of a final one`)
      })
      request.on('upgrade', () => giveUp('It asked to switch protocols (101) instead of answering'))
      request.on('error', (error: NodeJS.ErrnoException) => reject(new Error(`Not reached: ${error.code ?? error.message}`)))
      request.end(body)
    }),
  ])
}

/**
 * Returns a connection that passes on what the socket receives in small pieces. Node's parser reads what it gets to the end, even if the
 * request is destroyed at the first of the interim answers in it.
 * @param handleMaxBytes gets called when more than MAX_BYTES have come
 */
function inPieces(socket: Socket, handleMaxBytes: () => void): Duplex {
  const connection = new Duplex({
    read: () => void socket.resume(),
    write: (chunk: Buffer, _encoding, done) => void socket.write(chunk, done),
    final: (done) => void socket.end(done),
    destroy(error, done) {
      socket.destroy()
      done(error)
    },
  })
  let received = 0
  socket.on('data', (chunk: Buffer) => {
    received += chunk.length
    for (let at = 0; at < chunk.length && !connection.destroyed; at += PIECE_BYTES)
      if (!connection.push(chunk.subarray(at, at + PIECE_BYTES))) socket.pause()
    if (received > MAX_BYTES) handleMaxBytes()
  })
  socket.on('end', () => connection.push(null))
  socket.on('error', (error) => connection.destroy(error))
  socket.on('close', () => connection.destroy())
  return connection
}

/**
 * Returns why nothing could ever be sent to a URL, or undefined if something might be. A name that is unknown today may be registered
 * tomorrow, and a lookup that takes too long passes, because each delivery checks the address again.
 */
export async function refusalOf(url: string, networks: readonly string[]): Promise<string | undefined> {
  const target = new URL(url)
  const late = new Promise<void>((resolve) => void setTimeout(resolve, LOOKUP_MS).unref())
  try {
    await Promise.race([checkedAddresses(target, { networks, addressesOf: lookupAll }), late])
    return undefined
  } catch (error) {
    if (error instanceof RefusedAddress) return error.message
    return target.protocol === 'https:' ? undefined : ONLY_HTTPS
  }
}

const LOOKUP_MS = 3000
const ONLY_HTTPS = 'Address must begin with https://: plain http is only for what the administrator of this server has allowed'

class RefusedAddress extends Error {}

function lookupAll(host: string): Promise<LookupAddress[]> {
  return lookup(host, { all: true })
}

/** Returns the addresses of a URL's host that may be connected to. @throws RefusedAddress if one is refused */
async function checkedAddresses(
  target: URL,
  { networks, addressesOf }: Required<Pick<PostOptions, 'networks' | 'addressesOf'>>,
): Promise<LookupAddress[]> {
  const host = hostOf(target)
  const found = await addressesOf(host).catch((error: NodeJS.ErrnoException) => {
    throw new Error(`The name ${host} is not known (${error.code})`)
  })
  const allowed = blockList(networks)
  const refused = found.find(({ address }) => !isPublic(address) && !allowed.check(address, family(address)))
  if (refused) {
    const where = refused.address === host ? host : `${host} (${refused.address})`
    throw new RefusedAddress(
      `Address must be public: ${where} is not a public address. Only addresses that the administrator of this server has allowed can be private.`,
    )
  }
  const usable = target.protocol === 'https:' ? found : found.filter(({ address }) => !isPublic(address))
  if (usable.length === 0) throw new RefusedAddress(ONLY_HTTPS)
  return usable
}

/** Returns the host of a URL, without the brackets of an IPv6 address. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1')
}

/** Addresses that are not globally reachable (IANA's registries of special-purpose addresses). */
const specialIpv4 = blockList(
  `0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24
   192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/3`.split(/\s+/),
)
const globalIpv6 = blockList(['2000::/3'])
/** Globally reachable ranges that are refused as well: tunnels, which may end anywhere, and documentation. */
const specialIpv6 = blockList(['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'])

function isPublic(address: string): boolean {
  if (isIP(address) === 4) return !specialIpv4.check(address, 'ipv4')
  return globalIpv6.check(address, 'ipv6') && !specialIpv6.check(address, 'ipv6')
}

function family(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4'
}

/** @param ranges addresses and networks that config.ts has validated */
function blockList(ranges: readonly string[]): BlockList {
  const list = new BlockList()
  for (const range of ranges) {
    const [network = '', length] = range.split('/')
    if (length === undefined) list.addAddress(network, family(network))
    else list.addSubnet(network, Number(length), family(network))
  }
  return list
}
