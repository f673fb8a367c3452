import { z } from 'zod'
import type { Derivations } from '../auth/vault.ts'
import { Refusal } from '../lib/errors.ts'
import type { Uuid } from '../lib/ids.ts'

export const PageQuery = z.object({
  limit: z.coerce.number().int().min(1).max(100).default(25),
  cursor: z.string().min(1).max(200).optional().meta({ description: 'next_cursor of the page before.' }),
})
export type PageQuery = z.output<typeof PageQuery>

export const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.object({ data: z.array(item), next_cursor: z.string().nullable() })

/** What a query needs: rows older than `before`, newest first, one more than the page holds. */
export type PageRequest = { before: Uuid | null; take: number }
export type Page<Item> = { data: Item[]; next_cursor: string | null }

/** The keyset of a list: an id, authenticated for the one list it came from, so that it can't be made up or carried elsewhere. */
export type Cursors = {
  read: (list: string, query: PageQuery) => PageRequest
  page: <Row, Item>(
    list: string,
    query: PageQuery,
    rows: readonly Row[],
    idOf: (row: Row) => Uuid,
    present: (row: Row) => Item,
  ) => Page<Item>
}

const macBytes = 12

export const createCursors = (derivations: Derivations): Cursors => ({
  read: (list, query) => {
    const take = query.limit + 1
    if (query.cursor === undefined) return { before: null, take }
    const bytes = Buffer.from(query.cursor, 'base64url')
    const hex = bytes.subarray(0, 16).toString('hex')
    const mac = bytes.subarray(16)
    const known = derivations
      .macs('cursor', `${list}:${hex}`)
      .some((candidate) => candidate.mac.subarray(0, macBytes).equals(mac))
    if (bytes.length !== 16 + macBytes || !known) throw new Refusal('invalid_cursor')
    return { before: hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'), take }
  },
  page: (list, query, rows, idOf, present) => {
    const visible = rows.slice(0, query.limit)
    const last = visible.at(-1)
    const hex = last === undefined ? '' : idOf(last).replaceAll('-', '')
    const more = rows.length > query.limit && hex !== ''
    const cursor = more
      ? Buffer.concat([Buffer.from(hex, 'hex'), derivations.mac('cursor', `${list}:${hex}`).subarray(0, macBytes)])
      : null
    return { data: visible.map(present), next_cursor: cursor ? cursor.toString('base64url') : null }
  },
})
