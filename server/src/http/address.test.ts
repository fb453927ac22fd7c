/** The client's address, with and without proxies in front. */
import { expect, test } from 'vitest'
import { clientAddressReader } from './address.ts'

const proxies = ['10.0.0.0/8', 'fd00::/8', '192.0.2.1']

test.each([
  ['no proxy is trusted: the peer, whatever it claims', [], '203.0.113.9', '198.51.100.7', '203.0.113.9'],
  ['the peer is not a trusted proxy', proxies, '203.0.113.9', '198.51.100.7', '203.0.113.9'],
  ['one proxy', proxies, '10.1.2.3', '198.51.100.7', '198.51.100.7'],
  ['the client put a false address first', proxies, '10.1.2.3', '1.1.1.1, 198.51.100.7', '198.51.100.7'],
  ['two proxies', proxies, '10.1.2.3', '198.51.100.7, 192.0.2.1', '198.51.100.7'],
  ['all are proxies: the first of them', proxies, '10.1.2.3', '10.0.0.1', '10.0.0.1'],
  ['no header', proxies, '10.1.2.3', null, '10.1.2.3'],
  ['nonsense', proxies, '10.1.2.3', 'unknown', '10.1.2.3'],
  ['nonsense in between', proxies, '10.1.2.3', '198.51.100.7, x, 10.9.9.9', '10.9.9.9'],
  ['a port', proxies, '10.1.2.3', '198.51.100.7:4711', '198.51.100.7'],
  ['an IPv6 client counts by its /64 network', proxies, 'fd00::1', '2001:db8:0:00ab::7', '2001:db8:0:ab::/64'],
  ['brackets and a port', proxies, 'fd00::1', '[2001:DB8::7]:443', '2001:db8:0:0::/64'],
  ['an IPv4 proxy seen over IPv6', proxies, '::ffff:10.1.2.3', '::ffff:198.51.100.7', '198.51.100.7'],
  ['an IPv6 peer', [], 'fe80::1%eth0', null, 'fe80:0:0:0::/64'],
  ['no connection, as in tests', [], undefined, null, 'local'],
])('%s', (_, ranges, peer, forwardedFor, expected) => {
  expect(clientAddressReader(ranges)(peer, forwardedFor)).toBe(expected)
})
