import { readFileSync } from 'node:fs'
import { appendFile, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newId } from '../../src/lib/ids.ts'
import { resumeAfterLoss } from '../../src/modules/exceptions/pauses-service.ts'
import { shellOperator } from '../../src/modules/operators.ts'
import { type Journal, openJournal } from '../../src/process/journal.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { type Person, signIn } from '../harness/people.ts'
import { copyDatabase, createTestDatabase, type TestDatabase } from '../harness/postgres.ts'
import { startService, type TestService } from '../harness/service.ts'
import { alerts } from '../rails-flows/scene.ts'

let folder: string
let original: TestDatabase
let earlier: TestDatabase
let first: TestService
let person: Person
const installation = newId()
const logger = pino({ level: 'silent' })

const openOwn = async () => {
  const journal = await openJournal(folder, installation, { clock: first.clock, logger })
  if (!journal) throw new Error('there is no journal')
  return journal
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'journal-'))
  original = await createTestDatabase()
  first = await startService({ database: original })
  person = await signIn(first.api)
  await credit(first, person.accountId, 1_000_000n)
  await first.stop()
  earlier = await copyDatabase(original)
})
afterAll(async () => {
  await first.sandbox.close()
  await original.drop()
  await earlier.drop()
  await rm(folder, { recursive: true, force: true })
})

/** A life of the process: it remembers what the one before it wrote. */
const live = async <T>(database: TestDatabase, work: (service: TestService) => Promise<T>): Promise<T> => {
  const journal = await openOwn()
  const service = await startService({ database, clock: first.clock, provider: first, journal })
  try {
    return await work(service)
  } finally {
    await service.stop()
    journal.close()
  }
}

test('a process that is started again on the same data goes on; on a copy from an earlier moment it sends nothing', async () => {
  await live(original, async (service) => {
    const api = service.api.as({ cookie: person.cookie })
    const beneficiary_id = await newBeneficiary(api)
    const paid = await api.post('/v1/payments', { beneficiary_id, amount_minor: '150000' }, { key: 'one' })
    expect(paid.status).toBe(201)
    await service.settle()
  })
  await live(original, async (service) => {
    await service.deps.witness.check()
    expect(service.deps.witness.state()).toBe('trusted')
  })
  const orders = first.sandbox.orders().length
  await live(earlier, async (service) => {
    for (let turn = 0; turn < 3; turn += 1) await service.deps.witness.check()
    expect(service.deps.witness.state()).toBe('lost')
    expect(alerts(service)).toContain('database_lost_writes')
    await service.settle()
    expect(first.sandbox.orders()).toHaveLength(orders)
    expect((await service.api.get('/readyz')).body.rails.MPESA_B2C).toContain('lost writes')
    // A person has looked: the next life does not look for it again.
    await resumeAfterLoss(service.deps.db, shellOperator('a person'), [], 'a test')
    await service.deps.witness.check()
  })
  await live(earlier, async (service) => {
    for (let turn = 0; turn < 3; turn += 1) await service.deps.witness.check()
    expect(service.deps.witness.state()).toBe('trusted')
  })
})

const sentBy = (journal: Journal, attempts: readonly string[]) => {
  for (const id of attempts) journal.sender()?.note(id)
}

const own = async (work: (journal: Journal, inside: string, warnings: string[]) => Promise<void>) => {
  const ownFolder = await mkdtemp(join(tmpdir(), 'journal-'))
  const warnings: string[] = []
  const journal = await openJournal(ownFolder, installation, {
    clock: first.clock,
    logger: pino({}, { write: (line) => void warnings.push(line) }),
  })
  if (!journal) throw new Error('there is no journal')
  try {
    await work(journal, join(ownFolder, 'journal', installation), warnings)
  } finally {
    journal.close()
    await rm(ownFolder, { recursive: true, force: true })
  }
}
const audit = () => ({ kind: 'audit' as const, id: `${newId()}:${newId()}`, atMs: Date.now() })
const place = { system: '7', server: '00000001/1', position: 2n ** 60n }

test('a line that was cut off is left out, and so is a file whose mark was', () =>
  own(async (journal, inside) => {
    const whole = newId()
    journal.write(place, [audit()])
    sentBy(journal, [whole])
    const [file = ''] = await readdir(inside)
    await appendFile(join(inside, file), '0192f0c4-5b1e')
    await writeFile(join(inside, newId()), '{"boot":"x","pid":1,')
    const again = await openJournal(join(inside, '..', '..'), installation, { clock: first.clock, logger })
    expect(again?.left.map(({ place, noted }) => [place, noted.map(({ kind }) => kind)])).toEqual([[place, ['audit', 'sent']]])
    expect(again?.left[0]?.noted[1]?.id).toBe(whole)
    again?.close()
  }))

test('what is noted is in the file before anything else runs, also behind many sends', () =>
  own(async (journal, inside) => {
    const [file = ''] = await readdir(inside)
    const one = audit()
    const sent = Array.from({ length: 200 }, () => newId())
    sentBy(journal, sent)
    journal.write(place, [one])
    const text = readFileSync(join(inside, file), 'utf8')
    for (const id of [one.id, ...sent]) expect(text).toContain(id)
    expect(journal.read(file, sent[0] ?? '')).toBe('may_be_sent')
    expect(journal.read(file, newId())).toBe('not_sent')
  }))

test('a journal that cannot be written any more says so once, and what was committed goes on', () =>
  own(async (journal, inside, warnings) => {
    const to = journal.sender()
    for (let line = 0; line < 20_000; line += 1) to?.note('a')
    await rm(inside, { recursive: true })
    expect(journal.sender()).toBeUndefined()
    journal.write(place, [audit()])
    expect(journal.sender()).toBeUndefined()
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toContain('cannot be written')
  }))
