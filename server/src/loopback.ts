/** Addresses that lead to this machine alone. */
import { isIPv4 } from 'node:net'

/** @param hostname as URLs write it, or an address without brackets */
export function isLoopback(hostname: string): boolean {
  return ['localhost', '::1', '[::1]'].includes(hostname) || (isIPv4(hostname) && hostname.startsWith('127.'))
}
