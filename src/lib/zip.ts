import { pipeline, Readable } from 'node:stream'
import { crc32, createDeflateRaw } from 'node:zlib'

export type ArchiveFile = { name: string; content: AsyncIterable<string> }

const fields = (...values: readonly (readonly [bytes: 2 | 4, value: number])[]): Buffer => {
  const buffer = Buffer.alloc(values.reduce((sum, [bytes]) => sum + bytes, 0))
  let offset = 0
  for (const [bytes, value] of values) offset = buffer.writeUIntLE(value, offset, bytes)
  return buffer
}

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
    const head = [
      [2, 20],
      [2, flags],
      [2, deflate],
      [2, dosTime(at)],
      [2, dosDate(at)],
    ] as const
    const nameLength = [
      [2, nameBytes.length],
      [2, 0],
    ] as const
    yield sent(Buffer.concat([fields([4, 0x04034b50], ...head, [4, 0], [4, 0], [4, 0], ...nameLength), nameBytes]))
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
    const sums = [
      [4, crc],
      [4, packed],
      [4, size],
    ] as const
    yield sent(fields([4, 0x08074b50], ...sums))
    const places = [
      [2, 0],
      [2, 0],
      [2, 0],
      [4, 0],
      [4, start],
    ] as const
    directory.push(fields([4, 0x02014b50], [2, 20], ...head, ...sums, ...nameLength, ...places), nameBytes)
  }
  const start = offset
  const count = directory.length / 2
  const entries = sent(Buffer.concat(directory))
  yield entries
  yield sent(fields([4, 0x06054b50], [2, 0], [2, 0], [2, count], [2, count], [4, entries.length], [4, start], [2, 0]))
}
