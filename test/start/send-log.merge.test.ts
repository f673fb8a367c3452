import { readFileSync } from 'node:fs'
import { appendFile, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { newId } from '../../src/lib/ids.ts'
import { resumeAfterLoss } from '../../src/modules/exceptions/losses-service.ts'
import { shellOperator } from '../../src/modules/operators.ts'
import { openSendLog, type SendLogFile } from '../../src/process/send-log.ts'
import { connected } from '../harness/connected.ts'
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

const openOwn = async (dataDir = folder) => {
  const sendLog = await openSendLog(dataDir, installation, { clock: first.clock, logger })
  if (!sendLog) throw new Error('there is no send log')
  return sendLog
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'send-log-'))
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

/** One life of the process, which remembers its predecessor's writes. */
const live = async <T>(database: TestDatabase, work: (service: TestService) => Promise<T>, dataDir = folder): Promise<T> => {
  const sendLog = await openOwn(dataDir)
  const service = await startService({ database, clock: first.clock, provider: first, sendLog })
  try {
    return await work(service)
  } finally {
    await service.stop()
    sendLog.close()
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
    await service.deps.lossDetection.check()
    expect(service.deps.lossDetection.state()).toBe('trusted')
  })
  const orders = first.sandbox.orders().length
  await live(earlier, async (service) => {
    for (let turn = 0; turn < 3; turn += 1) await service.deps.lossDetection.check()
    expect(service.deps.lossDetection.state()).toBe('lost')
    expect(alerts(service)).toContain('database_lost_writes')
    await service.settle()
    expect(first.sandbox.orders()).toHaveLength(orders)
    expect((await service.api.get('/readyz')).body.rails.MPESA_B2C).toContain('lost committed writes')
    // A person has reconciled, so the next life does not report it again.
    await resumeAfterLoss(service.deps.db, shellOperator('a person'), [], 'a test')
    await service.deps.lossDetection.check()
  })
  await live(earlier, async (service) => {
    for (let turn = 0; turn < 3; turn += 1) await service.deps.lossDetection.check()
    expect(service.deps.lossDetection.state()).toBe('trusted')
  })
})

describe('with a payment under way, a process that starts', () => {
  const elsewhere = () => mkdtemp(join(folder, 'disk-'))
  const change = (database: TestDatabase, text: string) => connected(database.url, (client) => client.query(text))
  const killed = `update send_logs set stopped_at = null, seen_at = clock_timestamp() - interval '5 minutes'`
  const lives = 'update send_logs set stopped_at = null, seen_at = clock_timestamp()'
  let copy: TestDatabase
  let disk: string
  let orders: number

  /** The provider has the order without reporting its end. A second payment is about to be sent. */
  beforeEach(async () => {
    copy = await copyDatabase(original)
    disk = await elsewhere()
    const payTo = async (service: TestService, destination: string) => {
      const api = service.api.as({ cookie: person.cookie })
      const payee = { payment_rail: 'MPESA_B2B', destination, account_reference: 'A1' }
      const paid = await api.post('/v1/payments', { beneficiary_id: await newBeneficiary(api, payee), amount_minor: '1000' })
      expect(paid.status).toBe(201)
    }
    await live(
      copy,
      async (service) => {
        await service.deps.lossDetection.check()
        await payTo(service, '400801')
        await service.deps.jobs.drain()
        await payTo(service, '400802')
      },
      disk,
    )
    orders = first.sandbox.orders().length
  })
  afterEach(() => copy.drop())

  const start = async (dataDir: string, work: (service: TestService) => Promise<unknown> = async () => undefined) =>
    live(
      copy,
      async (service) => {
        await work(service)
        for (let turn = 0; turn < 3; turn += 1) await service.deps.lossDetection.check()
        const paused = await service.deps.db.query<{ rail: string }>('select rail from rail_pauses order by rail')
        return [service.deps.lossDetection.state(), paused.map(({ rail }) => rail)]
      },
      dataDir,
    )
  const ready = ['trusted', []]

  test('without the log of its sender, holds the rails that might pay twice, and says so, until a person has reconciled', async () => {
    await change(copy, killed)
    const held = ['trusted', ['MPESA_B2B', 'MPESA_STK']]
    let log: string[] = []
    const starts = async (service: TestService) => {
      log = service.log
    }
    expect(await start(await elsewhere(), starts)).toEqual(held)
    expect(log.join('')).toContain('this may be a copy of the database')
    expect(log.join('')).toContain('"alert":"unknown_sender"')
    await live(
      copy,
      async (service) => {
        await service.deps.lossDetection.check()
        const { rails } = (await service.api.get('/readyz')).body
        expect([rails.MPESA_B2B.includes('after-restore'), rails.MPESA_B2C]).toEqual([true, undefined])
        await service.settle()
        expect(first.sandbox.orders()).toHaveLength(orders)
        const { db } = service.deps
        const compared = resumeAfterLoss(db, shellOperator('a person'), [{ provider: 'MPESA', number: null }])
        await expect(compared).rejects.toThrow('No statement of MPESA was compared')
        await resumeAfterLoss(db, shellOperator('a person'), [], 'the disk was lost')
        await service.deps.lossDetection.check()
        expect((await service.api.get('/readyz')).body.rails).toBeUndefined()
        await service.settle()
        // A person must end the payment that waited at that moment.
        const waited = await db.query<{ status: string }>(`select status from payments order by id desc limit 1`)
        expect([first.sandbox.orders().length, waited]).toEqual([orders, [{ status: 'unknown' }]])
      },
      await elsewhere(),
    )
    expect(await start(await elsewhere())).toEqual(ready)
  })

  test('says on every rail that it waits, until a process that lives has renewed its log; then it starts normally', async () => {
    await change(copy, lives)
    const replica = await start(await elsewhere(), async (service) => {
      await service.deps.lossDetection.check()
      expect([service.deps.lossDetection.trusted(), (await service.api.get('/readyz')).body.rails.MPESA_B2C]).toEqual([
        undefined,
        expect.stringContaining('held until'),
      ])
      await change(copy, lives)
    })
    expect(replica).toEqual(ready)
  })

  test('starts normally where the sender ended in order', async () => expect(await start(await elsewhere())).toEqual(ready))

  test("starts normally with the sender's log on its disk", async () => {
    await change(copy, killed)
    expect(await start(disk)).toEqual(ready)
  })

  test('starts normally where the sender was of a version that registered no log, and says what it cannot tell', async () => {
    await change(copy, 'delete from send_logs')
    let log = ''
    const state = await start(await elsewhere(), async (service) => {
      await service.deps.lossDetection.check()
      log = service.log.join('')
    })
    expect([state, log]).toEqual([ready, expect.stringContaining('registered no send log')])
  })
})

const sentBy = (sendLog: SendLogFile, attempts: readonly string[]) => {
  for (const id of attempts) sendLog.sender()?.append(id)
}

const own = async (work: (sendLog: SendLogFile, inside: string, warnings: string[]) => Promise<void>) => {
  const ownFolder = await mkdtemp(join(tmpdir(), 'send-log-'))
  const warnings: string[] = []
  const sendLog = await openSendLog(ownFolder, installation, {
    clock: first.clock,
    logger: pino({}, { write: (line) => void warnings.push(line) }),
  })
  if (!sendLog) throw new Error('there is no send log')
  try {
    await work(sendLog, join(ownFolder, 'journal', installation), warnings)
  } finally {
    sendLog.close()
    await rm(ownFolder, { recursive: true, force: true })
  }
}
const audit = () => ({ kind: 'audit' as const, id: `${newId()}:${newId()}`, atMs: Date.now() })
const place = { system: '7', server: '00000001/1', position: 2n ** 60n }

test('a line that was cut off is left out, and so is a file whose recovery point was', () =>
  own(async (sendLog, inside) => {
    const whole = newId()
    sendLog.write(place, [audit()])
    sentBy(sendLog, [whole])
    const [file = ''] = await readdir(inside)
    await appendFile(join(inside, file), '0192f0c4-5b1e')
    await writeFile(join(inside, newId()), '{"boot":"x","pid":1,')
    const again = await openSendLog(join(inside, '..', '..'), installation, { clock: first.clock, logger })
    expect(again?.saved.map(({ serverPosition, writes }) => [serverPosition, writes.map(({ kind }) => kind)])).toEqual([
      [place, ['audit', 'sent']],
    ])
    expect(again?.saved[0]?.writes[1]?.id).toBe(whole)
    again?.close()
  }))

/** The longest numbers, with as many writes as a process remembers. */
const longest = () => {
  const seal = { kind: 'seal' as const, id: `${10n ** 18n}:${'f'.repeat(64)}`, atMs: Date.now() }
  const server = { system: '9'.repeat(19), server: 'FFFFFFFF/1733000000.123456', position: 2n ** 63n - 1n }
  return { server, writes: [...Array.from({ length: 32 }, audit), seal] }
}

test('a recovery point of long numbers keeps its newest writes, and every send behind it stays recorded', () =>
  own(async (sendLog, inside) => {
    const [file = ''] = await readdir(inside)
    const [before, after] = [newId(), newId()]
    sentBy(sendLog, [before])
    const { server, writes } = longest()
    sendLog.write(server, writes)
    sentBy(sendLog, [after])
    expect([before, after, newId()].map((id) => sendLog.read(file, id))).toEqual(['may_be_sent', 'may_be_sent', 'not_sent'])
    const again = await openSendLog(join(inside, '..', '..'), installation, { clock: first.clock, logger })
    again?.close()
    expect([again?.found, again?.saved.map(({ serverPosition }) => serverPosition)]).toEqual([[file], [server]])
    const kept = again?.saved[0]?.writes.map(({ id }) => id) ?? []
    expect(kept.slice(-22)).toEqual([...writes.slice(-20).map(({ id }) => id), before, after])
    sendLog.write(undefined, [])
    expect(sendLog.read(file, before)).toBe('may_be_sent')
  }))

test('a file of an earlier version whose recovery point overwrote a send still has its recovery point, and calls nothing unsent', () =>
  own(async (sendLog, inside) => {
    const [file = ''] = await readdir(inside)
    const [overwritten, whole] = [newId(), newId()]
    sentBy(sendLog, [overwritten, whole])
    const text = readFileSync(join(inside, file), 'utf8')
    const { server, writes } = longest()
    const block = {
      ...JSON.parse(text.split('\n')[0] ?? ''),
      place: { ...server, position: String(server.position) },
      noted: writes,
    }
    const long = `${JSON.stringify(block)}\n`
    await writeFile(join(inside, file), `${long}${text.slice(long.length)}`)
    expect(long.length).toBeGreaterThan(4_096)
    expect(sendLog.read(file, overwritten)).toBe('elsewhere')
    const again = await openSendLog(join(inside, '..', '..'), installation, { clock: first.clock, logger })
    again?.close()
    expect([again?.found, again?.saved[0]?.serverPosition]).toEqual([[file], server])
    expect(again?.saved[0]?.writes.map(({ id }) => id)).toEqual([...writes.map(({ id }) => id), whole])
    // Its block became short again.
    sendLog.write(undefined, [])
    expect(sendLog.read(file, overwritten)).toBe('elsewhere')
  }))

test('a file of an earlier version whose recovery point was too long by one byte calls nothing unsent', () =>
  own(async (sendLog, inside) => {
    const [file = ''] = await readdir(inside)
    const overwritten = newId()
    sentBy(sendLog, [overwritten])
    const text = readFileSync(join(inside, file), 'utf8')
    const long = `${(text.split('\n')[0] ?? '').padEnd(4_096)}\n`
    await writeFile(join(inside, file), `${long}${text.slice(long.length)}`)
    expect(sendLog.read(file, overwritten)).toBe('elsewhere')
  }))

test('what is noted is in the file before anything else runs, also behind many sends', () =>
  own(async (sendLog, inside) => {
    const [file = ''] = await readdir(inside)
    const one = audit()
    const sent = Array.from({ length: 200 }, () => newId())
    sentBy(sendLog, sent)
    sendLog.write(place, [one])
    const text = readFileSync(join(inside, file), 'utf8')
    for (const id of [one.id, ...sent]) expect(text).toContain(id)
    expect(sendLog.read(file, sent[0] ?? '')).toBe('may_be_sent')
    expect(sendLog.read(file, newId())).toBe('not_sent')
  }))

test('a send log that cannot be written any more says so once, what was committed goes on, and a new one begins when there is room', () =>
  own(async (sendLog, inside, warnings) => {
    const to = sendLog.sender()
    for (let line = 0; line < 20_000; line += 1) to?.append('a')
    await rm(inside, { recursive: true })
    expect(sendLog.open()).toEqual([])
    sendLog.write(place, [audit()])
    expect(sendLog.sender()).toBeUndefined()
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toContain('cannot be written')
    for (let renewal = 0; renewal < 100; renewal += 1) expect(sendLog.open()).toEqual([])
    expect(warnings).toHaveLength(1)
    await mkdir(inside)
    const ids = Array.from({ length: 15 }, () => sendLog.open()).find(({ length }) => length > 0)
    expect(ids).toEqual(await readdir(inside))
    // Not before the database knows it.
    expect(sendLog.sender()).toBeUndefined()
    sendLog.confirm()
    const attempt = newId()
    sentBy(sendLog, [attempt])
    expect(sendLog.read(ids?.[0] ?? '', attempt)).toBe('may_be_sent')
    expect(warnings[1]).toContain('written again')
  }))
