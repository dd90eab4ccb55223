import { constants, crc32, deflateRawSync } from 'node:zlib'
import type { Fixed } from './fixed.ts'

/** What is the same in all answers, as it is sent; compressed when somebody first asks for that. */
interface Head {
  bytes: Buffer
  packed?: { bytes: Buffer; crc: number }
}

const heads = new WeakMap<Fixed, Head>()

function headOf(answer: Fixed): Head {
  let head = heads.get(answer)
  if (!head) {
    head = { bytes: Buffer.from(answer.head) }
    heads.set(answer, head)
  }
  return head
}

/** An answer as UTF-8, in parts to be written one after the other. */
export function plainBytes(answer: Fixed, id: string | number): Buffer[] {
  return [headOf(answer).bytes, Buffer.from(answer.tail(id))]
}

/**
 * An answer as one member of gzip (RFC 1952), in parts. The head comes compressed from memory and the tail is laid behind it
 * as it is: a second member would be simpler, but many a client reads only the first. Undefined for an id that is longer
 * than what can be laid so.
 */
export function gzipBytes(answer: Fixed, id: string | number): Buffer[] | undefined {
  const tail = Buffer.from(answer.tail(id))
  if (tail.length > MOST_STORED) return undefined
  const head = headOf(answer)
  head.packed ??= { bytes: Buffer.concat([GZIP, deflated(head.bytes)]), crc: crc32(head.bytes) }
  const { bytes, crc } = head.packed
  return [bytes, lastBlock(tail), trailer(crc32(tail, crc), head.bytes.length + tail.length)]
}

/** Header of a member (RFC 1952, 2.3): deflate, no name, no time, system unknown. */
const GZIP = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff])

/** Blocks of deflate that end at a byte and are not the last ones, so that another block can follow. */
function deflated(bytes: Buffer): Buffer {
  return deflateRawSync(bytes, { level: 9, finishFlush: constants.Z_SYNC_FLUSH })
}

/** Most bytes of a stored block (RFC 1951, 3.2.4). */
const MOST_STORED = 0xffff

/** The last block, stored as it is: its length stands twice, as it is and complemented. */
function lastBlock(bytes: Buffer): Buffer {
  const header = Buffer.alloc(5)
  header.writeUInt8(1, 0)
  header.writeUInt16LE(bytes.length, 1)
  header.writeUInt16LE(~bytes.length & 0xffff, 3)
  return Buffer.concat([header, bytes])
}

/** What ends a member: CRC and length of what was compressed. */
function trailer(crc: number, length: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeUInt32LE(crc, 0)
  bytes.writeUInt32LE(length, 4)
  return bytes
}
