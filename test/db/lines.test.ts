import { eq } from 'drizzle-orm'
import { pgTable, text, uuid } from 'drizzle-orm/pg-core'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { inTx, type Joint, statement, type Tx } from '../../src/db/client.ts'
import { valuesList } from '../../src/db/lists.ts'
import { prepare } from '../../src/db/prepare.ts'
import { prepareInsert, prepareUpdate } from '../../src/db/prepare-write.ts'
import { together } from '../../src/db/together.ts'
import { newId, type Uuid } from '../../src/lib/ids.ts'
import { sentDuring } from '../harness/sent.ts'
import { startService, type TestService } from '../harness/service.ts'

let service: TestService
const people: Uuid[] = [newId(), newId(), newId()]
beforeAll(async () => {
  service = await startService()
  await service.deps.db.query('create table test_people (id uuid primary key, name text not null)')
})
afterAll(() => service.close())

const table = pgTable('test_people', { id: uuid().primaryKey().$type<Uuid>(), name: text().notNull() })
const insert = prepareInsert('test.insert', table)
const rename = prepareUpdate('test.rename', table, ['name'])
const nameOf = prepare(
  'test.name',
  { id: 'uuid' },
  (orm, at) => orm.select({ name: table.name }).from(table).where(eq(table.id, at.id)),
  'joined',
)
const lengthOf = together<Uuid, number>(async (db, ids) => {
  const rows = await db.query<{ id: Uuid; length: number }>(lengths, [`{${ids.join(',')}}`])
  return ids.map((id) => rows.find((row) => row.id === id)?.length ?? 0)
})
const lengths = statement('test.lengths', 'select id, length(name) as length from test_people where id = any($1::uuid[])')
const countOf = statement('test.count', 'select count(*)::int as count from test_people where id = $1')

type Line = (line: Tx, id: Uuid) => Promise<unknown>

/** Each person has a line, in one transaction. */
const sideBySide = async (work: Line, ids: readonly Uuid[] = people) => {
  let results: unknown[] = []
  const sent = await sentDuring(() =>
    inTx(service.deps.db, async (tx) => {
      const lines = tx.lines()
      results = await Promise.all(ids.map((id) => work(lines.line(), id)))
      lines.flush()
    }),
  )
  // The service's own work goes on beside this.
  const names = sent.statements.map(({ name }) => name).filter((name) => name?.startsWith('test.'))
  return { names, results }
}

const named = (name: string) => [{ name }]

test('what lines ask of one statement at the same time is one statement, and each line has its own answer', async () => {
  const { results, names } = await sideBySide(async (line, id) => {
    insert(line, { id, name: `Is ${id}` })
    return Promise.all([line.run(nameOf, { id }), lengthOf(line, id)])
  })
  expect(results).toEqual(people.map((id) => [named(`Is ${id}`), id.length + 3]))
  expect(names).toEqual(['test.insert@lines', 'test.name@turn', 'test.lengths'])
})

test('the statements of a line stay in the order in which it issued them', async () => {
  // The second line begins with what is the last step of the first, so that neither may join the other's.
  const [first = '', second = '', third = ''] = people
  const changed = await sideBySide(async (line, id) => {
    const change = () => rename(line, id, { name: `Now ${id}` })
    const read = () => line.run(nameOf, { id })
    if (id === second) {
      const before = read()
      change()
      return Promise.all([before, read()])
    }
    change()
    return [await read()]
  })
  expect(changed.results).toEqual([
    [named(`Now ${first}`)],
    [named(`Is ${second}`), named(`Now ${second}`)],
    [named(`Now ${third}`)],
  ])
  expect(changed.names).toEqual(['test.rename@lines', 'test.name@turn', 'test.rename', 'test.name@turn'])
})

test('the statements of a line are sent behind those of the lines that it follows', async () => {
  const [first = '', second = '', third = ''] = people
  const sent = await sentDuring(() =>
    inTx(service.deps.db, async (tx) => {
      const lines = tx.lines()
      const [one, two] = [lines.line(), lines.line()]
      const reading = two.run(nameOf, { id: second })
      rename(one, third, { name: 'Renamed' })
      const behind = lines.line({ behind: [one, two] })
      expect(await behind.run(nameOf, { id: third })).toEqual(named('Renamed'))
      await reading
      const free = lines.line()
      expect(await free.run(nameOf, { id: first })).toEqual(named(`Now ${first}`))
      rename(free, third, { name: `Now ${third}` })
      lines.flush()
    }),
  )
  const names = sent.statements.map(({ name }) => name).filter((name) => name?.startsWith('test.'))
  expect(names).toEqual(['test.name@turn', 'test.rename', 'test.name@turn', 'test.name@turn', 'test.rename'])
})

test('a column that is a list is written for all lines at once, by the values that were given', async () => {
  await service.deps.db.query('create table test_lists (id uuid primary key, tags text[] not null, others uuid[])')
  const lists = pgTable('test_lists', {
    id: uuid().primaryKey().$type<Uuid>(),
    tags: text().array().notNull(),
    others: uuid().array().$type<Uuid[]>(),
  })
  const insertLists = prepareInsert('test.insert_lists', lists)
  const changeLists = prepareUpdate('test.change_lists', lists, ['tags', 'others'])
  const read = prepare('test.lists', { id: 'uuid' }, (orm, at) =>
    orm.select({ tags: lists.tags, others: lists.others }).from(lists).where(eq(lists.id, at.id)),
  )
  const tagsOf = fc.array(
    fc.oneof(fc.string(), fc.constantFrom('NULL', '{}', '"', '\\', 'a,b')).map((each) => each.replaceAll('\0', '')),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(tagsOf, { minLength: 6, maxLength: 6 }), async (tags) => {
      await service.deps.db.query('delete from test_lists')
      const rowOf = (id: Uuid, from: number) => {
        const place = people.indexOf(id)
        return { tags: tags[from + place] ?? [], others: [null, [], people][place] ?? null }
      }
      const inserted = await sideBySide((line, id) => {
        insertLists(line, { id, ...rowOf(id, 0) })
        return line.run(read, { id })
      })
      const changed = await sideBySide((line, id) => {
        changeLists(line, id, rowOf(id, 3))
        return line.run(read, { id })
      })
      expect(inserted.results).toEqual(people.map((id) => [rowOf(id, 0)]))
      expect(changed.results).toEqual(people.map((id) => [rowOf(id, 3)]))
      expect(inserted.names[0]).toBe('test.insert_lists@lines')
      expect(changed.names[0]).toBe('test.change_lists@lines')
    }),
    { numRuns: 20 },
  )
})

test('two changes of one row by one line are two statements, and the later one stays', async () => {
  const twice = await sideBySide(async (line, id) => {
    rename(line, id, { name: 'First' })
    rename(line, id, { name: 'Second' })
    return line.run(nameOf, { id })
  })
  expect(twice.results).toEqual(people.map(() => named('Second')))
  expect(twice.names).toEqual(['test.rename@lines', 'test.rename@lines', 'test.name@turn'])
})

test('a statement that answers one alone keeps its place in its line', async () => {
  const { results, names } = await sideBySide((line, id) =>
    Promise.all([line.query(countOf, [id]), line.run(nameOf, { id }), line.query(countOf, [id])]),
  )
  expect(results).toEqual(people.map(() => [[{ count: 1 }], named('Second'), [{ count: 1 }]]))
  expect(names).toEqual(people.flatMap(() => ['test.count', 'test.name@turn', 'test.count']))
})

test('what fails for one line fails for all that asked with it, and the transaction is undone', async () => {
  const failing: Joint<string, undefined> = {
    writes: true,
    ask: async (db, keys) => {
      await db.query('select 1 / (case when $1::int > 2 then 0 else 1 end)', [keys.length])
      return keys.map(() => undefined)
    },
  }
  const reasons: unknown[] = []
  const work = sideBySide(async (line, id) => {
    rename(line, id, { name: 'Undone' })
    await line.join(failing, id).catch((error: unknown) => {
      reasons.push(error)
      throw error
    })
  })
  await expect(work).rejects.toThrow()
  expect(reasons).toHaveLength(people.length)
  const names = await Promise.all(people.map((id) => service.deps.db.run(nameOf, { id })))
  expect(names).toEqual(people.map(() => named('Second')))
})

test('a value in a list is the value that was sent', async () => {
  const types: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
    text: fc.string().map((text) => text.replaceAll('\0', '')),
    jsonb: fc
      .record({ a: fc.string().map((text) => text.replaceAll('\0', '')), b: fc.option(fc.integer()) })
      .map((value) => JSON.stringify(value)),
    bytea: fc.uint8Array().map((bytes) => Buffer.from(bytes)),
    boolean: fc.boolean(),
    bigint: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    integer: fc.integer(),
    timestamptz: fc.date({ min: new Date('1900-01-01'), max: new Date('2100-01-01'), noInvalidDate: true }),
    uuid: fc.uuid(),
  }
  for (const [type, value] of Object.entries(types))
    await fc.assert(
      fc.asyncProperty(fc.array(fc.option(value), { minLength: 1 }), async (values) => {
        const encoded = values.map((one) => (one instanceof Date ? one.toISOString() : one))
        const [row] = await service.deps.db.query<{ same: boolean | null }>(
          `select bool_and(x is not distinct from y) as same
           from rows from (unnest($1::${type}[]), unnest(array[${encoded.map((_, at) => `$${at + 2}::${type}`).join(', ')}])) as l(x, y)`,
          [valuesList(values), ...encoded],
        )
        expect(row?.same).toBe(true)
      }),
      { numRuns: 30 },
    )
})
