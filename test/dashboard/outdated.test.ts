import { InfiniteQueryObserver, type QueryKey, QueryObserver } from '@tanstack/react-query'
import { expect, test } from 'vitest'
import { PagesClient } from '../../dashboard/src/api/pages-client.ts'
import { isList, refreshLists } from '../../dashboard/src/live/refresh.ts'

type Row = { id: string; status: string }
type Page = { data: Row[]; next_cursor: string | null }

/** A service that answers on the test's command, with the facts at the time of the request. */
const served = <Answer>(isNow: () => Answer) => {
  const waiting: (() => void)[] = []
  const read = () => {
    const answer = isNow()
    return new Promise<Answer>((resolve) => waiting.push(() => resolve(answer)))
  }
  const answerNewestFirst = async () => {
    for (let turn = 0; turn < 20; turn += 1) {
      await new Promise(setImmediate)
      waiting.pop()?.()
    }
  }
  return { read, waiting: () => waiting.length, answer: () => waiting.shift()?.(), answerNewestFirst }
}

const client = () => new PagesClient({ defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY, retry: false } } })

test('an answer that is older than what outdated it is not fresh when the page is opened again', async () => {
  let now = 'before'
  const { read, waiting, answer } = served(() => now)
  const queries = client()
  const open = () => new QueryObserver(queries, { queryKey: ['grants'], queryFn: read }).subscribe(() => undefined)
  open()()
  now = 'after'
  void queries.invalidateQueries({ queryKey: ['grants'] })
  answer()
  await expect.poll(() => queries.getQueryData(['grants'])).toBe('before')
  open()
  await expect.poll(waiting).toBe(1)
  answer()
  await expect.poll(() => queries.getQueryData(['grants'])).toBe('after')
})

test('a first answer that a page waits for is shown, and read again once where it was outdated meanwhile', async () => {
  let now = 'before'
  const { read, waiting, answer } = served(() => now)
  const queries = client()
  new QueryObserver(queries, { queryKey: ['grants'], queryFn: read }).subscribe(() => undefined)
  now = 'after'
  void queries.invalidateQueries()
  void queries.invalidateQueries()
  expect(waiting()).toBe(1)
  answer()
  await expect.poll(() => queries.getQueryData(['grants'])).toBe('before')
  await expect.poll(waiting).toBe(1)
  answer()
  await expect.poll(() => queries.getQueryData(['grants'])).toBe('after')
  expect(queries.isFetching()).toBe(0)
})

const rowsOf = ({ pages }: { pages: readonly Page[] }) => pages.map(({ data }) => data)
const page = (data: Row[], next_cursor: string | null): Page => ({ data, next_cursor })

/** Two pages with one payment each. */
const listed = () => {
  let first: Row = { id: 'pay_2', status: 'processing' }
  const service = served(() => first)
  const queries = client()
  const options = {
    queryKey: ['payments', {}],
    queryFn: async ({ pageParam }: { pageParam: string | undefined }) => {
      const read = await service.read()
      return pageParam === undefined ? page([read], 'pay_2') : page([{ id: 'pay_1', status: 'succeeded' }], null)
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor: next }: Page) => next ?? undefined,
  }
  const list = new InfiniteQueryObserver(queries, options)
  const change = (status: string) => {
    first = { ...first, status }
    refreshLists(queries, ([name]) => name === 'payments', [{ type: `payment.${status}`, data: first }])
  }
  const succeed = () => change('succeeded')
  return {
    ...service,
    queries,
    list,
    options,
    change,
    succeed,
    shown: () => rowsOf(queries.getQueryData(options.queryKey) ?? { pages: [] }),
  }
}

test('a statement, whose pages are no rows, is left to its reload', () => {
  const statement = { pages: [{ entries: [], totals: null, next_cursor: null }], pageParams: [undefined] }
  expect([isList(statement), isList({ pages: [page([], null)], pageParams: [undefined] })]).toEqual([false, true])
})

test('a list that is read while it is no longer shown is read again after an event that the read did not see', async () => {
  const { answer, waiting, list, queries, options, succeed, shown } = listed()
  let close = list.subscribe(() => undefined)
  answer()
  await expect.poll(shown).toHaveLength(1)
  void queries.invalidateQueries()
  close()
  succeed()
  answer()
  await expect.poll(() => queries.isFetching()).toBe(0)
  close = new InfiniteQueryObserver(queries, options).subscribe(() => undefined)
  await expect.poll(waiting).toBe(1)
  answer()
  await expect.poll(shown).toEqual([[{ id: 'pay_2', status: 'succeeded' }]])
  close()
})

test('the row of an event stays when a further page was on its way', async () => {
  const { answer, waiting, list, succeed, shown } = listed()
  const close = list.subscribe(() => undefined)
  answer()
  await expect.poll(shown).toHaveLength(1)
  void list.fetchNextPage()
  succeed()
  answer()
  await expect.poll(shown).toHaveLength(2)
  await expect.poll(waiting).toBe(1)
  answer()
  await expect.poll(shown).toEqual([[{ id: 'pay_2', status: 'succeeded' }], [{ id: 'pay_1', status: 'succeeded' }]])
  close()
})

test('of two events one after the other the later one holds, whichever read ends first', async () => {
  const { answer, answerNewestFirst, waiting, list, change, shown } = listed()
  const close = list.subscribe(() => undefined)
  answer()
  await expect.poll(shown).toHaveLength(1)
  change('unknown')
  await expect.poll(waiting).toBe(1)
  change('succeeded')
  await answerNewestFirst()
  expect(shown()).toEqual([[{ id: 'pay_2', status: 'succeeded' }]])
  close()
})

test('a list that is opened again while an older event is being read shows the newer one', async () => {
  const { answer, answerNewestFirst, waiting, list, queries, options, change, shown } = listed()
  const leave = list.subscribe(() => undefined)
  answer()
  await expect.poll(shown).toHaveLength(1)
  change('unknown')
  await expect.poll(waiting).toBe(1)
  leave()
  change('succeeded')
  void queries.invalidateQueries({ queryKey: options.queryKey })
  const close = new InfiniteQueryObserver(queries, options).subscribe(() => undefined)
  await answerNewestFirst()
  expect(shown()).toEqual([[{ id: 'pay_2', status: 'succeeded' }]])
  close()
})

test.each<[guarantee: string, key: QueryKey, type: string, change: Record<string, string>, stays: boolean]>([
  ['a paid payment stays in its batch', ['payments', { batch_id: 'pba_1' }, 100], 'payment.succeeded', {}, true],
  [
    'a paid payment leaves the list of those in progress',
    ['payments', { status: ['processing'] }, 25],
    'payment.succeeded',
    {},
    false,
  ],
  ['a frozen beneficiary stays', ['beneficiaries', {}, 50], 'beneficiary.updated', { status: 'frozen' }, true],
  ['an archived beneficiary leaves', ['beneficiaries', {}, 50], 'beneficiary.archived', { status: 'archived' }, false],
  [
    'an archived beneficiary stays in the list of all',
    ['beneficiaries', { status: 'all' }, 50],
    'beneficiary.archived',
    { status: 'archived' },
    true,
  ],
  [
    'a confirmed beneficiary leaves the proposals',
    ['beneficiaries', { confirmation: 'proposed' }, 50],
    'beneficiary.updated',
    { confirmation: 'confirmed' },
    false,
  ],
  ['a decided approval stays in the list of all', ['approvals', {}, 25], 'approval.approved', { status: 'approved' }, true],
])('below the first page: %s', async (_, queryKey, type, change, stays) => {
  const queries = client()
  const first = page([{ id: 'row_2', status: 'active' }], 'row_2')
  const options = { queryKey, queryFn: async () => first, initialPageParam: undefined, getNextPageParam: () => undefined }
  queries.setQueryData(queryKey, {
    pages: [first, page([{ id: 'row_1', status: 'active' }], null)],
    pageParams: [undefined, 'row_2'],
  })
  const close = new InfiniteQueryObserver<Page>(queries, options).subscribe(() => undefined)
  const changed = { id: 'row_1', status: 'succeeded', ...change }
  refreshLists(queries, () => true, [{ type, data: changed }])
  await expect.poll(() => rowsOf(queries.getQueryData(queryKey) ?? { pages: [] })).toEqual([first.data, stays ? [changed] : []])
  close()
})
