/** CRC-32C (Castagnoli, RFC 3720 appendix B.4), eight bytes a step with eight tables. Node has only the other CRC-32, in `zlib`. */

const POLYNOMIAL = 0x82f63b78 // reflected
const tables = makeTables()

/** @param start the checksum of the bytes before these */
export function crc32c(bytes: Uint8Array, from = 0, end = bytes.length, start = 0): number {
  const [t0, t1, t2, t3, t4, t5, t6, t7] = tables as Tables
  let crc = ~start
  let at = from
  for (; at + 8 <= end; at += 8) {
    const low = crc ^ (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24))
    crc =
      t7[low & 0xff]! ^
      t6[(low >>> 8) & 0xff]! ^
      t5[(low >>> 16) & 0xff]! ^
      t4[low >>> 24]! ^
      t3[bytes[at + 4]!]! ^
      t2[bytes[at + 5]!]! ^
      t1[bytes[at + 6]!]! ^
      t0[bytes[at + 7]!]!
  }
  for (; at < end; at += 1) crc = t0[(crc ^ bytes[at]!) & 0xff]! ^ (crc >>> 8)
  return ~crc >>> 0
}

type Table = Int32Array
type Tables = [Table, Table, Table, Table, Table, Table, Table, Table]

/** Table n has, for each byte, the checksum of that byte followed by n zero bytes. */
function makeTables(): Table[] {
  const first = Int32Array.from({ length: 256 }, (_, byte) => {
    let crc = byte
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1
    return crc
  })
  const made = [first]
  for (let n = 1; n < 8; n += 1) made.push(made[n - 1]!.map((crc) => first[crc & 0xff]! ^ (crc >>> 8)))
  return made
}
