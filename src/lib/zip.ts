import { pipeline, Readable } from 'node:stream'
import { crc32, createDeflateRaw } from 'node:zlib'

export type ArchiveFile = { name: string; content: AsyncIterable<string> }

const integers =
  (bytes: 2 | 4) =>
  (...values: readonly number[]): Buffer => {
    const buffer = Buffer.alloc(bytes * values.length)
    for (const [index, value] of values.entries()) buffer.writeUIntLE(value, bytes * index, bytes)
    return buffer
  }
/** Little-endian fields of 16 and 32 bits. */
const u16 = integers(2)
const u32 = integers(4)

/** Sizes follow the content (bit 3), and names are UTF-8 (bit 11). */
const flags = 0x0808
const deflate = 8
const maxBytes = 0xffffffff

/** Time in MS-DOS format, in UTC. */
const dosTime = (at: Date): number => (at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1)
const dosDate = (at: Date): number => ((at.getUTCFullYear() - 1980) << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate()

/** Produces a ZIP archive (APPNOTE 6.3, without ZIP64) no faster than it is read. Throws beyond 4 GB. */
export async function* zip(files: AsyncIterable<ArchiveFile>, at: Date): AsyncGenerator<Buffer> {
  const directory: Buffer[] = []
  let offset = 0
  const sent = (bytes: Buffer): Buffer => {
    offset += bytes.length
    if (offset > maxBytes) throw new RangeError('an archive has at most 4 GB')
    return bytes
  }
  for await (const { name, content } of files) {
    const nameBytes = Buffer.from(name)
    const start = offset
    const head = u16(20, flags, deflate, dosTime(at), dosDate(at))
    const nameLength = u16(nameBytes.length, 0)
    yield sent(Buffer.concat([u32(0x04034b50), head, u32(0, 0, 0), nameLength, nameBytes]))
    let [crc, size, packed] = [0, 0, 0]
    const measured = async function* () {
      for await (const text of content) {
        const bytes = Buffer.from(text)
        crc = crc32(bytes, crc)
        size += bytes.length
        yield bytes
      }
    }
    // An error in the content is thrown by the iteration below.
    for await (const chunk of pipeline(Readable.from(measured()), createDeflateRaw(), () => undefined)) {
      packed += chunk.length
      yield sent(chunk)
    }
    if (size > maxBytes) throw new RangeError('a file of an archive has at most 4 GB')
    const sums = u32(crc, packed, size)
    yield sent(Buffer.concat([u32(0x08074b50), sums]))
    const position = Buffer.concat([u16(0, 0, 0), u32(0, start)])
    directory.push(Buffer.concat([u32(0x02014b50), u16(20), head, sums, nameLength, position, nameBytes]))
  }
  const start = offset
  const count = directory.length
  const entries = sent(Buffer.concat(directory))
  yield entries
  yield sent(Buffer.concat([u32(0x06054b50), u16(0, 0, count, count), u32(entries.length, start), u16(0)]))
}
