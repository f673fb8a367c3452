import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { csvHeader, csvLine } from '../lib/csv-line.ts'
import { prefers } from './accept.ts'
import { recheckCaller } from './idempotency.ts'

export type Column<Row> = readonly [name: string, value: (row: Row) => string | null]

export const wantsCsv = (request: FastifyRequest): boolean => prefers(request, 'text/csv', 'application/json')

// A page is built in one turn of the event loop. Each minor garbage collection finds about one page alive and keeps it until the
// next major collection, which blocks the event loop. With pages of 200 payments, twice as much memory was kept.
const pageSize = 64

/** Returns rows older than `before`, newest first. */
type ReadPage<Row> = (page: { before: string | null; take: number }) => Promise<readonly Row[]>

export type ReadPages = <Row extends { id: string }>(read: ReadPage<Row>) => AsyncGenerator<readonly Row[]>

/** Yields all pages. A long export ends when its credential ends or loses the permission. */
export async function* pagesOf<Row extends { id: string }>(
  request: FastifyRequest,
  read: ReadPage<Row>,
): AsyncGenerator<readonly Row[]> {
  for (let before: string | null = null; ; ) {
    const rows: readonly Row[] = await read({ before, take: pageSize })
    yield rows
    const last = rows.at(-1)
    if (!last || rows.length < pageSize) return
    before = last.id
    recheckCaller(request, await request.reauthenticate())
  }
}

export async function* csvLines<Row>(
  columns: readonly Column<Row>[],
  pages: AsyncIterable<readonly Row[]>,
): AsyncGenerator<string> {
  yield csvHeader(columns.map(([name]) => name))
  for await (const rows of pages) yield rows.map((row) => csvLine(columns.map(([, value]) => value(row)))).join('')
}

/** Sends CSV no faster than the client reads it. An error closes the connection, so that no partial export looks complete. */
export const sendCsv = <Row extends { id: string }>(
  request: FastifyRequest,
  reply: FastifyReply,
  name: string,
  columns: readonly Column<Row>[],
  read: ReadPage<Row>,
): FastifyReply =>
  reply
    .headers({ 'content-disposition': `attachment; filename="${name}.csv"`, vary: 'Accept' })
    .type('text/csv; charset=utf-8')
    .send(Readable.from(csvLines(columns, pagesOf(request, read))))

const ofFilters = 'A page. With `Accept: text/csv`, all matching items; `limit` and `cursor` do not apply.'

export const orCsv = <Schema extends z.ZodType>(schema: Schema, description = ofFilters) => ({
  description,
  content: {
    'application/json': { schema },
    'text/csv': {
      schema: z
        .string()
        .describe(
          'CSV (RFC 4180) in UTF-8 with a byte order mark for Excel and a header row. Values that a spreadsheet would read as formulas are prefixed with an apostrophe.',
        ),
    },
  },
})
