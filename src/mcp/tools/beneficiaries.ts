import { z } from 'zod'
import { answered, type Caller, defineTool, nextCursor, pageInput, pageQuery, reads } from '../tool.ts'

const Beneficiary = z.object({
  id: z.string(),
  type: z.string(),
  display_name: z.string(),
  legal_name: z.string().nullable(),
  payment_rail: z.string(),
  destination_mask: z.string(),
  account_reference_required: z.boolean(),
  status: z.string(),
})
type Beneficiary = z.output<typeof Beneficiary>
const Page = z.object({ data: z.array(Beneficiary), next_cursor: nextCursor })
type Page = z.output<typeof Page>

const readPage = async (caller: Caller, limit: number, cursor: string | undefined): Promise<Page> =>
  answered(
    Page,
    await caller.call({ method: 'GET', path: '/v1/beneficiaries', query: { status: 'active', ...pageQuery({ limit, cursor }) } }),
  )

/** A search goes through this many at most: a caller with more payees uses their ids. */
const searchPages = 20

const matches = ({ display_name, legal_name }: Beneficiary, name: string): boolean =>
  [display_name, legal_name ?? ''].some((text) => text.toLowerCase().includes(name.toLowerCase()))

const search = async (caller: Caller, name: string, limit: number, start: string | undefined): Promise<Page> => {
  const matching: Beneficiary[] = []
  let cursor = start
  for (let page = 0; page < searchPages; page += 1) {
    const { data, next_cursor } = await readPage(caller, 100, cursor)
    matching.push(...data.filter((one) => matches(one, name)))
    cursor = next_cursor ?? undefined
    if (cursor === undefined || matching.length >= limit) break
  }
  return { data: matching, next_cursor: cursor ?? null }
}

const list = defineTool({
  name: 'list_beneficiaries',
  title: 'List or find beneficiaries',
  description: 'Who can be paid. With `name`, those whose name contains it. Destinations are masked; payments name the id.',
  operation: 'beneficiaries.list',
  hints: reads,
  input: z.strictObject({ name: z.string().min(1).max(120).optional(), ...pageInput }),
  output: z.object({ beneficiaries: z.array(Beneficiary), next_cursor: nextCursor }),
  run: async ({ name, limit, cursor }, caller) => {
    const page = await (name === undefined ? readPage(caller, limit, cursor) : search(caller, name, limit, cursor))
    return { beneficiaries: page.data, next_cursor: page.next_cursor }
  },
})

export const beneficiaryTools = [list]
