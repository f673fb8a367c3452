import { expect, test } from 'vitest'
import { lockFurtherAccounts } from '../../src/db/account-lock.ts'
import { inTx, requireTurn, type Tx } from '../../src/db/client.ts'
import { audit } from '../../src/events/audit.ts'
import { CommitThenThrow, Refusal } from '../../src/lib/errors.ts'
import { newId, type Uuid } from '../../src/lib/ids.ts'
import { contended } from '../../src/queue/account-queue.ts'
import { createSinglesQueue, type SingleWrite, writeAlone, writeSingles } from '../../src/queue/write-path.ts'
import { sentDuring } from '../harness/sent.ts'
import { openService } from '../harness/service.ts'

const service = await openService()
await service.deps.db.query('create table written (name text)')

const note = (tx: Tx, name: string) => tx.query('insert into written values ($1)', [name])
const written = async () =>
  (await service.deps.db.query<{ name: string }>('select name from written order by name')).map(({ name }) => name)

const place = { accountId: newId(), workspaceId: newId() }
const keyed = (name: string, body = 'a body') => ({ key: name, scope: Buffer.from(name), bodyHash: Buffer.from(body), place })

/** A write that notes its name. */
const write = (name: string, fields: Partial<SingleWrite> = {}): SingleWrite => ({
  locks: { exclusive: [newId()] },
  once: null,
  reauthenticate: async () => null,
  work: async (tx) => {
    await note(tx, name)
    return { status: 201, text: JSON.stringify({ name, token: 'shown once' }), secret: ['token'] }
  },
  ...fields,
})
const together = (writes: readonly SingleWrite[], wait = false) => inTx(service.deps.db, (tx) => writeSingles(tx, writes, wait))

test('writes of one batch that have one key have one effect, and the second gets the answer without its secret', async () => {
  const [first, second, other] = await together([
    write('once', { once: keyed('one') }),
    write('twice', { once: keyed('one') }),
    write('other', { once: keyed('one', 'another body') }),
  ])
  expect(first).toMatchObject({ answer: { text: '{"name":"once","token":"shown once"}' }, replayed: false })
  expect(second).toEqual({ answer: { status: 201, text: '{"name":"once"}' }, replayed: true })
  expect(other).toMatchObject({ code: 'conflict', details: { reason: 'idempotency' } })
  expect(await writeAlone(service.deps.db, write('later', { once: keyed('one') }))).toEqual(second)
  expect(await written()).toEqual(['once'])
})

test('a write whose caller is refused behind the lock has no effect and stores no key; the others of its batch go on', async () => {
  const refused = write('refused', {
    once: keyed('refused'),
    reauthenticate: async () => {
      throw new Refusal('session_revoked')
    },
  })
  const outcomes = await together([write('before'), refused, write('behind')])
  expect(outcomes[1]).toMatchObject({ code: 'session_revoked' })
  expect(await written()).toEqual(['before', 'behind', 'once'])
  await writeAlone(service.deps.db, write('allowed', { once: keyed('refused') }))
  expect(await written()).toContain('allowed')
})

test.each([false, true])(
  'whom an earlier write of the batch takes the right from is refused, as behind its commit (side by side: %s)',
  async (sideBySide) => {
    await service.deps.db.query('create table if not exists standing (name text primary key, active bool)')
    await service.deps.db.query(
      `insert into standing values ('one', true), ('other', true) on conflict (name) do update set active = true`,
    )
    let reads = 0
    const by = (name: string, account: Uuid): Partial<SingleWrite> => ({
      sideBySide,
      locks: { exclusive: [account] },
      reauthenticate: async (tx) => {
        reads += 1
        const [row] = await tx.query<{ active: boolean }>('select active from standing where name = $1', [name])
        if (!row?.active) throw new Refusal('session_revoked')
        return null
      },
    })
    const [account, another] = [newId(), newId()]
    const stop: Partial<SingleWrite> = {
      work: async (tx) => {
        tx.defer(tx.query(`update standing set active = false where name = 'one'`))
        return { status: 200, text: '{}' }
      },
    }
    const outcomes = await together([
      write('kept', { ...by('one', account), takesFrom: 'nobody' }),
      write('stop', { ...by('one', account), ...stop }),
      write('stopped', by('one', account)),
      write('elsewhere', by('other', another)),
    ])
    expect(outcomes).toMatchObject([{ replayed: false }, { replayed: false }, { code: 'session_revoked' }, { replayed: false }])
    expect(reads).toBe(sideBySide ? 5 : 6)
  },
)

test.each([
  { takesFrom: undefined, again: ['person', 'key'] },
  { takesFrom: 'grants' as const, again: ['key'] },
  { takesFrom: 'nobody' as const, again: [] },
])('behind a write that takes from $takesFrom, $again are read again', async ({ takesFrom, again }) => {
  const account = newId()
  const reads: string[] = []
  const by = (name: string, more: Partial<SingleWrite>): SingleWrite =>
    write(name, {
      ...more,
      locks: { exclusive: [account] },
      reauthenticate: async () => {
        reads.push(name)
        return null
      },
    })
  const behind = { takesFrom: 'nobody' as const }
  const outcomes = await together([
    by('first', { takesFrom, hasGrant: false }),
    by('person', { ...behind, hasGrant: false }),
    by('key', { ...behind, hasGrant: true }),
  ])
  expect(outcomes).toMatchObject([{ replayed: false }, { replayed: false }, { replayed: false }])
  expect(reads).toEqual(['first', 'person', 'key', ...again])
})

test('a refusal that must leave a trace commits with its batch, and stores no key', async () => {
  const traced = write('unused', {
    once: keyed('traced'),
    work: async (tx) => {
      await note(tx, 'trace')
      throw new CommitThenThrow(new Refusal('policy_denied'))
    },
  })
  const [outcome, other] = await together([traced, write('with it')])
  expect([outcome, other]).toMatchObject([{ code: 'policy_denied' }, { replayed: false }])
  expect(await written()).toEqual(expect.arrayContaining(['trace', 'with it']))
  expect(await service.deps.db.query(`select from idempotency_keys where scope = 'traced'`)).toHaveLength(0)
})

test('a write that is refused before it has written anything concerns no other write of its batch, also when it has locked rows', async () => {
  const refused = write('never', {
    work: async (tx) => {
      await tx.query('select from written for update')
      throw new Refusal('not_found')
    },
  })
  const outcomes = await together([write('beside it'), refused, write('after it')])
  expect(outcomes).toMatchObject([{ replayed: false }, { code: 'not_found' }, { replayed: false }])
  expect(await written()).toEqual(expect.arrayContaining(['beside it', 'after it']))
})

const tracing = (name: string, work: (tx: Tx) => Promise<void> = async () => undefined): SingleWrite =>
  write(name, {
    work: async (tx) => {
      await audit(tx, { accountId: null, origin: null, way: name }, tx.at, { action: 'account.update' })
      await work(tx)
      return { status: 200, text: '{}' }
    },
  })
const traces = async () =>
  (
    await service.deps.db.query<{ kind: string }>(
      `select credential_kind as kind from audit_log where credential_kind like 'trace%' order by id`,
    )
  ).map(({ kind }) => kind)

test('the audit rows of a batch are one statement, in the order of the writes', async () => {
  const { statements } = await sentDuring(() => together([tracing('trace 1'), tracing('trace 2'), tracing('trace 3')]))
  expect(statements.filter(({ name }) => name === 'audit.append')).toHaveLength(1)
  expect(await traces()).toEqual(['trace 1', 'trace 2', 'trace 3'])
})

test('a refusal after an audit row undoes its whole batch: the row counts as written before it is sent', async () => {
  const before = await traces()
  const refused = tracing('trace 4', async () => {
    throw new Refusal('not_found')
  })
  await expect(together([write('undone with it'), refused])).rejects.toMatchObject({ code: 'not_found' })
  expect([await traces(), (await written()).includes('undone with it')]).toEqual([before, false])
})

test('what is undone to a savepoint takes its audit rows with it, and no others', async () => {
  const before = await traces()
  const undoing = tracing('trace 5', async (tx) => {
    const undo = await tx.savepoint()
    await audit(tx, { accountId: null, origin: null, way: 'trace undone' }, tx.at, { action: 'account.update' })
    await note(tx, 'undone')
    await undo()
    await audit(tx, { accountId: null, origin: null, way: 'trace 6' }, tx.at, { action: 'account.update' })
  })
  await together([undoing])
  expect([await traces(), (await written()).includes('undone')]).toEqual([[...before, 'trace 5', 'trace 6'], false])
})

test('an audit row that cannot be written fails its commit, so its effect has not happened', async () => {
  const { db } = service.deps
  await db.query(`alter table audit_log add constraint refused check (credential_kind <> 'trace refused') not valid`)
  try {
    const writing = inTx(db, async (tx) => {
      await note(tx, 'without its trace')
      await audit(tx, { accountId: null, origin: null, way: 'trace refused' }, tx.at, { action: 'account.update' })
    })
    await expect(writing).rejects.toBeInstanceOf(Error)
    expect(await written()).not.toContain('without its trace')
  } finally {
    await db.query('alter table audit_log drop constraint refused')
  }
})

const order: string[] = []
const stepped = (name: string, fields: Partial<SingleWrite> = {}): SingleWrite =>
  write(name, {
    ...fields,
    work: async (tx) => {
      order.push(`${name} begins`)
      await note(tx, name)
      order.push(`${name} ends`)
      return { status: 201, text: '{}' }
    },
  })

test('writes are done one after the other, but for those of different accounts that nothing else keeps apart', async () => {
  const [sideBySide, account] = [true, newId()]
  await together([stepped('one'), stepped('two')])
  expect(order.splice(0)).toEqual(['one begins', 'one ends', 'two begins', 'two ends'])
  await together([stepped('three', { sideBySide }), stepped('four', { sideBySide })])
  expect(order.splice(0)).toEqual(['three begins', 'four begins', 'three ends', 'four ends'])
  const own = { sideBySide, locks: { exclusive: [account] } }
  await together([stepped('five', own), stepped('six', own)])
  expect(order.splice(0)).toEqual(['five begins', 'five ends', 'six begins', 'six ends'])
})

/** Writes of one account of which each changes a record. */
const inOneAccount = () => {
  const locks = { exclusive: [newId()] }
  return (kind: string, name: string, fields: Partial<SingleWrite> = {}): Partial<SingleWrite> => ({
    sideBySide: true,
    takesFrom: 'nobody',
    locks,
    changes: { kind, name },
    ...fields,
  })
}

test('writes of one account and kind are done side by side if they change different records by different keys', async () => {
  const of = inOneAccount()
  await together([stepped('one', of('end', 'a')), stepped('two', of('end', 'b'))])
  expect(order.splice(0)).toEqual(['one begins', 'two begins', 'one ends', 'two ends'])
  for (const [first, second] of [
    [of('end', 'a'), of('end', 'a')],
    [of('end', 'a'), of('begin', 'b')],
    [of('end', 'a', { once: keyed('same') }), of('end', 'b', { once: keyed('same') })],
    [of('end', 'a'), { ...of('end', 'b'), changes: undefined }],
    [of('end', 'a'), of('end', 'b', { takesFrom: 'grants' })],
  ]) {
    await together([stepped('one', first), stepped('two', second)])
    expect(order.splice(0).slice(0, 2)).toEqual(['one begins', 'one ends'])
  }
})

test('what follows writes that were done side by side sees what they wrote, also beside those of another account', async () => {
  const of = inOneAccount()
  const count = async (tx: Tx) => (await tx.query<{ name: string }>('select name from written')).length
  const before = (await written()).length
  const counts: number[] = []
  const counting: Partial<SingleWrite> = {
    work: async (tx) => {
      counts.push(await count(tx))
      return { status: 200, text: '{}' }
    },
  }
  const deferred = (name: string): Partial<SingleWrite> => ({
    work: async (tx) => {
      tx.defer(note(tx, name))
      return { status: 200, text: '{}' }
    },
  })
  await together([
    write('', of('end', 'a', deferred('first of two'))),
    write('', of('end', 'b', deferred('second of two'))),
    write('', { ...of('count', ''), ...counting }),
  ])
  expect(counts).toEqual([before + 2])
})

test('a write that may change what others beside it are decided from is done again in its turn', async () => {
  const of = inOneAccount()
  const asking = (name: string) =>
    write(name, {
      ...of('end', name),
      work: async (tx) => {
        order.push(`${name} asks`)
        requireTurn(tx)
        await note(tx, name)
        order.push(`${name} ends`)
        return { status: 200, text: '{}' }
      },
    })
  await together([asking('one'), stepped('two', of('end', 'two')), asking('three')])
  expect(order.splice(0)).toEqual([
    ...['one asks', 'two begins', 'three asks', 'two ends'],
    ...['one asks', 'one ends', 'three asks', 'three ends'],
  ])
  await together([asking('alone')])
  expect(order.splice(0)).toEqual(['alone asks', 'alone ends'])
  const late = write('late', {
    ...of('end', 'late'),
    work: async (tx) => {
      await note(tx, 'late')
      requireTurn(tx)
      return { status: 200, text: '{}' }
    },
  })
  await expect(together([late, stepped('beside', of('end', 'beside'))])).rejects.toThrow('asks for its turn')
})

test('a write that needs the lock of another account too is done again in a batch of its own, which waits for it', async () => {
  const [own, other] = [newId(), newId()]
  const submit = createSinglesQueue(service.deps.logger, service.deps.db)
  const further = write('further', {
    work: async (tx) => {
      await note(tx, 'further')
      await lockFurtherAccounts(tx, other)
      return { status: 201, text: '{}' }
    },
  })
  const answers = await Promise.all([submit(own, further), submit(newId(), write('with further'))])
  expect(answers).toMatchObject([{ replayed: false }, { replayed: false }])
  expect((await written()).filter((name) => name.includes('further'))).toEqual(['further', 'with further'])
})

test('a refusal after the first statement undoes its whole batch', async () => {
  const late = write('late', {
    work: async (tx) => {
      await note(tx, 'half')
      throw new Refusal('conflict')
    },
  })
  const before = await written()
  await expect(together([write('innocent'), late])).rejects.toMatchObject({ code: 'conflict' })
  expect(await written()).toEqual(before)
  await expect(writeAlone(service.deps.db, late)).rejects.toMatchObject({ code: 'conflict' })
  expect(await written()).toEqual(before)
})

test('a write of which any account is held by another transaction is passed over, or waits', async () => {
  const [held, free] = [newId(), newId()]
  const release = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const holder = writeAlone(
    service.deps.db,
    write('holder', {
      locks: { exclusive: [held] },
      work: async (tx) => {
        await note(tx, 'holder')
        begun.resolve()
        await release.promise
        return { status: 200, text: '' }
      },
    }),
  )
  await begun.promise
  const of = { locks: { exclusive: [free], shared: [held] } }
  const [outcome, other] = await together([write('passed over', of), write('free')])
  expect([outcome, other]).toMatchObject([contended, { replayed: false }])
  const waiting = together([write('waited', of)], true)
  release.resolve()
  await holder
  expect(await waiting).toMatchObject([{ replayed: false }])
  expect(await written()).toEqual(expect.arrayContaining(['free', 'holder', 'waited']))
  expect(await written()).not.toContain('passed over')
})
