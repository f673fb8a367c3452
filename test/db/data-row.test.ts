import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import { type DataRow, RowConnection } from '../../src/db/data-row.ts'

const message = (code: string, body: Buffer): Buffer => {
  const header = Buffer.alloc(5)
  header.write(code)
  header.writeUInt32BE(body.length + 4, 1)
  return Buffer.concat([header, body])
}
const column = (text: string | null): Buffer => {
  const length = Buffer.alloc(4)
  length.writeInt32BE(text === null ? -1 : Buffer.byteLength(text))
  return Buffer.concat([length, Buffer.from(text ?? '')])
}
const rowOf = (...texts: (string | null)[]): Buffer => {
  const count = Buffer.alloc(2)
  count.writeInt16BE(texts.length)
  return message('D', Buffer.concat([count, ...texts.map(column)]))
}
const complete = message('C', Buffer.from('SELECT 3\0'))
const bound = message('2', Buffer.alloc(0))

const rows: (string | null)[][] = [['1', null, '', 'Wanjirũ'], [], ['x'.repeat(5_000)]]
const answer = Buffer.concat([bound, ...rows.map((row) => rowOf(...row)), complete, bound, rowOf('last'), complete])

/** What a connection hears when the socket brings this in parts of so many bytes. */
const heard = (bytes: Buffer, partBytes: number): unknown[] => {
  const connection = new RowConnection({})
  const socket = new EventEmitter()
  const events: unknown[] = []
  connection.on('dataRow', (row: DataRow) => void events.push(row.fields))
  for (const event of ['bindComplete', 'commandComplete']) connection.on(event, () => void events.push(event))
  connection.attachListeners(socket)
  for (let at = 0; at < bytes.length; at += partBytes) socket.emit('data', bytes.subarray(at, at + partBytes))
  return events
}

const expected = ['bindComplete', ...rows, 'commandComplete', 'bindComplete', ['last'], 'commandComplete']

test.each([1, 2, 3, 5, 7, 64, 4_096, answer.length])(
  'rows and other messages arrive whole and in order when the socket brings %i bytes at a time',
  (partBytes) => expect(heard(answer, partBytes)).toEqual(expected),
)

test('a row keeps its texts when the next ones arrive', () => {
  const connection = new RowConnection({})
  const socket = new EventEmitter()
  const kept: DataRow[] = []
  connection.on('dataRow', (row: DataRow) => void kept.push(row))
  connection.attachListeners(socket)
  const bytes = Buffer.concat([rowOf('first', null), rowOf('second', ''), rowOf('third', '3')])
  for (let at = 0; at < bytes.length; at += 11) socket.emit('data', Buffer.from(bytes.subarray(at, at + 11)))
  expect(kept.map(({ fields }) => fields)).toEqual([
    ['first', null],
    ['second', ''],
    ['third', '3'],
  ])
})
