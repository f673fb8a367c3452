import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Derivations } from '../auth/vault.ts'
import type { ChangePosition } from '../db/changes.ts'
import { errorRow } from '../errors/catalogue.ts'
import { invalidAt } from '../lib/errors.ts'
import type { Uuid } from '../lib/ids.ts'
import { bounded, TimeIn } from './wire.ts'

export const PageQuery = z.object({
  limit: z.coerce.number().int().min(1).max(100).default(25).describe('The maximum number of items.'),
  cursor: bounded(200)
    .min(1)
    .optional()
    .describe('`next_cursor` of the previous page. All parameters except `limit` must be the same.'),
})
export type PageQuery = z.output<typeof PageQuery>

export const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.object({ data: z.array(item), next_cursor: z.string().nullable() })

export type CamelName<Name> = Name extends `${infer Head}_${infer Rest}` ? `${Head}${Capitalize<CamelName<Rest>>}` : Name
export const camelName = (name: string): string => name.replace(/_./g, (letter) => letter.slice(1).toUpperCase())
type CamelFields<Input> = { [Name in keyof Input as CamelName<Name>]: Exclude<Input[Name], undefined> }

/** The fields that a request has, by the names of our columns. */
export const camelFields = <Input extends object>(input: Input): CamelFields<Input> =>
  Object.fromEntries(
    Object.entries(input).flatMap(([name, value]) => (value === undefined ? [] : [[camelName(name), value]])),
  ) as CamelFields<Input>

/** Filters have the same names as the query's parameters, so that only a filter's schema and its condition name the filter. */
export const filtersOf = <Query extends object>({ limit: _, cursor: __, ...filters }: Query & Partial<PageQuery>) =>
  camelFields(filters)

/** Rows older than `before`, newest first. `take` is one more than the page size. */
export type PageRequest = { before: Uuid | null; take: number }
type Page<Item> = { data: Item[]; next_cursor: string | null }

const macBytes = 12

const uuidOf = (hex: string): Uuid => hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
const hexOf = (id: Uuid): string => id.replaceAll('-', '')
const hexOfNumber = (number: string): string => BigInt(number).toString(16).padStart(16, '0')
const idBytes = 16

/** A cursor is an id or a position in the order of changes, with a MAC for its list, so it cannot be forged or used elsewhere. */
export const createCursors = (derivations: Derivations) => {
  const read = (list: string, cursor: string, length: number): string => {
    const bytes = Buffer.from(cursor, 'base64url')
    const hex = bytes.subarray(0, length).toString('hex')
    const mac = bytes.subarray(length)
    const known = derivations
      .macs('cursor', `${list}:${hex}`)
      .some((candidate) => candidate.mac.subarray(0, macBytes).equals(mac))
    if (bytes.length !== length + macBytes || !known)
      throw invalidAt('cursor', errorRow('invalid_cursor').sentence, 'invalid_cursor')
    return hex
  }
  const write = (list: string, hex: string): string => {
    const mac = derivations.mac('cursor', `${list}:${hex}`).subarray(0, macBytes)
    return Buffer.concat([Buffer.from(hex, 'hex'), mac]).toString('base64url')
  }
  return {
    read: (list: string, cursor: string): Uuid => uuidOf(read(list, cursor, idBytes)),
    write: (list: string, last: Uuid): string => write(list, hexOf(last)),
    readChange: (list: string, cursor: string): ChangePosition => {
      const hex = read(list, cursor, 2 * idBytes)
      const number = (from: number) => String(BigInt(`0x${hex.slice(from, from + 16)}`))
      return { transaction: number(0), settledAtStart: number(16), id: uuidOf(hex.slice(32)) }
    },
    writeChange: (list: string, { transaction, settledAtStart, id }: ChangePosition): string =>
      write(list, hexOfNumber(transaction) + hexOfNumber(settledAtStart) + hexOf(id)),
  }
}

export type Cursors = ReturnType<typeof createCursors>

type Listing<Row, Item> = {
  /** The workspace or account that owns the rows. Null for administrators, who see all rows. */
  owner: Uuid | null
  read: (page: PageRequest) => Promise<readonly Row[]>
  idOf: (row: Row) => Uuid
  present: (rows: readonly Row[]) => readonly Item[] | Promise<readonly Item[]>
}

type ListRequest = Pick<FastifyRequest, 'routeOptions' | 'params'> & { query: PageQuery & { wait_seconds?: number } }

const bigintAsText = (_name: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value)

/** Binds a cursor to one operation, one owner and all parameters except page size and waiting time. */
const bindingOf = ({ routeOptions, params, query }: ListRequest, owner: Uuid | null): string => {
  const { limit: _limit, cursor: _cursor, wait_seconds: _wait, ...filter } = query
  return JSON.stringify([routeOptions.config.operation, owner, params, filter], bigintAsText)
}

/** In bytes. A page ends before this size, with the cursor of its last row. */
const maxPageBytes = 250_000

/** In bytes, because characters outside ASCII take up to four. */
const sizeOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

/** How many of these items fit on a page. At least one. */
export const countThatFits = (items: readonly unknown[]): number => {
  let bytes = 0
  const tooMany = items.findIndex((item) => {
    bytes += sizeOf(item) + 1
    return bytes > maxPageBytes
  })
  return tooMany === -1 ? items.length : Math.max(1, tooMany)
}

const fitToPage = async <Row, Item>(
  rows: readonly Row[],
  limit: number,
  present: Listing<Row, Item>['present'],
): Promise<{ data: Item[]; last: Row | undefined }> => {
  const visible = rows.slice(0, limit)
  const items = await present(visible)
  const data = items.slice(0, countThatFits(items))
  return { data, last: visible.at(data.length - 1) }
}

/** The last row of the previous page. Null for the first page. */
export const positionOf = ({ cursors }: { cursors: Cursors }, request: ListRequest, owner: Uuid | null): Uuid | null =>
  request.query.cursor === undefined ? null : cursors.read(bindingOf(request, owner), request.query.cursor)

/** Reads and writes the cursors of all lists. */
export const readPage = async <Row, Item>(
  { cursors }: { cursors: Cursors },
  request: ListRequest,
  { owner, read, idOf, present }: Listing<Row, Item>,
): Promise<Page<Item>> => {
  const { limit } = request.query
  const rows = await read({ before: positionOf({ cursors }, request, owner), take: limit + 1 })
  const { data, last } = await fitToPage(rows, limit, present)
  const more = rows.length > data.length && last !== undefined
  return { data, next_cursor: more ? cursors.write(bindingOf(request, owner), idOf(last)) : null }
}

type ChangesListing<Row, Item> = {
  owner: Uuid
  read: (from: ChangePosition | undefined, take: number) => Promise<{ rows: readonly Row[]; settledAtStart: string }>
  changeOf: (row: Row) => { changed: bigint; id: Uuid }
  present: Listing<Row, Item>['present']
}

/** Every page with items has a cursor, even the last page, so that a job can continue from it next time. */
export const readChangesPage = async <Row, Item>(
  { cursors }: { cursors: Cursors },
  request: ListRequest,
  { owner, read, changeOf, present }: ChangesListing<Row, Item>,
): Promise<Page<Item>> => {
  const { limit, cursor } = request.query
  const list = bindingOf(request, owner)
  const { rows, settledAtStart } = await read(cursor === undefined ? undefined : cursors.readChange(list, cursor), limit)
  const { data, last } = await fitToPage(rows, limit, present)
  if (last === undefined) return { data, next_cursor: null }
  const { changed, id } = changeOf(last)
  return { data, next_cursor: cursors.writeChange(list, { transaction: String(changed), id, settledAtStart }) }
}

/** A filter for lists whose records change. */
export const UpdatedAfter = TimeIn.optional().describe(
  'Only items changed after this time, oldest change first. Items that change again are returned again. A page ends before changes that an open transaction may still make. Every page with items has a `next_cursor`; store the last one and continue from it next time.',
)
