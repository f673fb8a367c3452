import { EventEmitter } from 'node:events'
import pg from 'pg'
import type { RawRow } from './types.ts'

// pg makes a text of every column of every row as it arrives. A row that equals one read before needs none of them (`row-reader.ts`), so
// rows are kept as the bytes of their messages, and become texts when they are read.

declare module 'pg' {
  // Of pg's connection, what its types leave out.
  interface Connection {
    /** Begins to read the messages of the server from `stream`: its only listener is of `data`. */
    attachListeners(stream: EventEmitter): void
  }
}

/** Of a message: its code, and its length with the four bytes of the length itself. */
const headerBytes = 5
const dataRow = 'D'.charCodeAt(0)

/** A message of one row: the number of its columns, and of each its length, or -1 for null, and its text. */
export class DataRow {
  readonly bytes: Buffer

  constructor(bytes: Buffer) {
    this.bytes = bytes
  }

  get fields(): RawRow {
    const { bytes } = this
    const fields = new Array<string | null>(bytes.readInt16BE(0))
    let at = 2
    for (let column = 0; column < fields.length; column += 1) {
      const length = bytes.readInt32BE(at)
      at += 4
      fields[column] = length === -1 ? null : bytes.toString('utf8', at, at + length)
      if (length > 0) at += length
    }
    return fields
  }
}

/** Hands whole messages on in their order: each row by itself, what stands between rows together. */
const splitMessages = (onRow: (row: DataRow) => void, onOthers: (messages: Buffer) => void): ((chunk: Buffer) => void) => {
  let begun: Buffer[] = []
  let have = 0
  let needed = 0

  const keep = (rest: Buffer) => {
    begun = [rest]
    have = rest.length
    needed = have < headerBytes ? headerBytes : 1 + rest.readUInt32BE(1)
  }
  const split = (bytes: Buffer) => {
    let others = 0
    let at = 0
    while (at + headerBytes <= bytes.length) {
      const end = at + 1 + bytes.readUInt32BE(at + 1)
      if (end > bytes.length) break
      if (bytes[at] === dataRow) {
        if (others < at) onOthers(bytes.subarray(others, at))
        onRow(new DataRow(bytes.subarray(at + headerBytes, end)))
        others = end
      }
      at = end
    }
    if (others < at) onOthers(bytes.subarray(others, at))
    if (at < bytes.length) keep(bytes.subarray(at))
  }

  return (chunk) => {
    if (have === 0) {
      split(chunk)
      return
    }
    begun.push(chunk)
    have += chunk.length
    // A long message is put together once, and not again with each of its parts.
    if (have < needed) return
    const bytes = Buffer.concat(begun, have)
    begun = []
    have = 0
    split(bytes)
  }
}

/** pg's connection, whose rows are `DataRow`s. */
export class RowConnection extends pg.Connection {
  override attachListeners(stream: EventEmitter): void {
    const others = new EventEmitter()
    super.attachListeners(others)
    stream.on(
      'data',
      splitMessages(
        (row) => this.emit('dataRow', row),
        (messages) => others.emit('data', messages),
      ),
    )
  }
}
