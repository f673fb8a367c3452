import { expect, test } from 'vitest'
import type { Principal } from '../../src/auth/principal.ts'
import { inTx, type Tx } from '../../src/db/client.ts'
import { audit } from '../../src/events/audit.ts'
import { CommitThenThrow, Refusal } from '../../src/lib/errors.ts'
import { newId } from '../../src/lib/ids.ts'
import { contended } from '../../src/queue/account-queue.ts'
import { answerKeys, type SingleAnswer } from '../../src/queue/idempotency-keys.ts'
import { createSerialRunner } from '../../src/queue/serial-runner.ts'
import { type SingleWrite, writeAll, writeOnce } from '../../src/queue/write-path.ts'
import { sentDuring } from '../harness/sent.ts'
import { openService } from '../harness/service.ts'

const service = await openService()
await service.deps.db.query('create table written (name text)')

const note = (tx: Tx, name: string) => tx.query('insert into written values ($1)', [name])
const written = async () =>
  (await service.deps.db.query<{ name: string }>('select name from written order by name')).map(({ name }) => name)

const place = { accountId: newId(), workspaceId: newId() }
const keyed = (name: string, body = 'a body') => ({ key: name, scope: Buffer.from(name), bodyHash: Buffer.from(body), place })

/** A write that records its name. */
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
const alone = (one: SingleWrite) => writeOnce(service.deps.db, answerKeys, one)
/** Decided as a set, like payments: a refusal that the work throws concerns only its own write. */
const together = (writes: readonly SingleWrite[], wait = false) =>
  inTx(service.deps.db, (tx) =>
    writeAll<SingleWrite, Principal | null, undefined, SingleAnswer>(tx, writes, wait, {
      keys: answerKeys,
      read: async () => undefined,
      decide: (tx, _, one) => one.work(tx),
      write: async () => undefined,
    }),
  )

test('two writes with one key have one effect, and the second gets the answer without its secret', async () => {
  const first = await alone(write('once', { once: keyed('one') }))
  const second = await alone(write('twice', { once: keyed('one') }))
  expect(first).toMatchObject({ answer: { text: '{"name":"once","token":"shown once"}' }, replayed: false })
  expect(second).toEqual({ answer: { status: 201, text: '{"name":"once"}' }, replayed: true })
  await expect(alone(write('other', { once: keyed('one', 'another body') }))).rejects.toMatchObject({
    code: 'conflict',
    details: { reason: 'idempotency' },
  })
  expect(await written()).toEqual(['once'])
})

test('requests of one batch that have one key have one effect', async () => {
  const [first, second, other] = await together([
    write('in a batch', { once: keyed('batched') }),
    write('twice', { once: keyed('batched') }),
    write('other', { once: keyed('batched', 'another body') }),
  ])
  expect([first, second]).toMatchObject([{ replayed: false }, { replayed: true }])
  expect(other).toMatchObject({ code: 'conflict', details: { reason: 'idempotency' } })
  expect(await written()).toEqual(['in a batch', 'once'])
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
  await expect(alone(refused)).rejects.toMatchObject({ code: 'session_revoked' })
  expect(await written()).toEqual(['before', 'behind', 'in a batch', 'once'])
  await alone(write('allowed', { once: keyed('refused') }))
  expect(await written()).toContain('allowed')
})

test('a refusal that must leave a trace commits, and stores no key', async () => {
  const traced = write('unused', {
    once: keyed('traced'),
    work: async (tx) => {
      await note(tx, 'trace')
      throw new CommitThenThrow(new Refusal('policy_denied'))
    },
  })
  await expect(alone(traced)).rejects.toMatchObject({ code: 'policy_denied' })
  expect(await written()).toContain('trace')
  expect(await service.deps.db.query(`select from idempotency_keys where scope = 'traced'`)).toHaveLength(0)
})

test('any other refusal undoes what was written before it', async () => {
  const refused = write('undone', {
    work: async (tx) => {
      await note(tx, 'undone')
      throw new Refusal('not_found')
    },
  })
  await expect(alone(refused)).rejects.toMatchObject({ code: 'not_found' })
  expect(await written()).not.toContain('undone')
})

const tracing = (name: string, work: (tx: Tx) => Promise<void> = async () => undefined): SingleWrite =>
  write(name, {
    work: async (tx) => {
      audit(tx, { accountId: null, origin: null, way: name }, 'account.update')
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
  expect(statements.filter(({ name }) => name?.startsWith('audit_log.insert'))).toHaveLength(1)
  expect(await traces()).toEqual(['trace 1', 'trace 2', 'trace 3'])
})

test('what is undone to a savepoint takes its audit rows with it, and no others', async () => {
  const before = await traces()
  const undoing = tracing('trace 5', async (tx) => {
    const undo = await tx.savepoint()
    audit(tx, { accountId: null, origin: null, way: 'trace undone' }, 'account.update')
    await note(tx, 'undone')
    await undo()
    audit(tx, { accountId: null, origin: null, way: 'trace 6' }, 'account.update')
  })
  await alone(undoing)
  expect([await traces(), (await written()).includes('undone')]).toEqual([[...before, 'trace 5', 'trace 6'], false])
})

test('an audit row that cannot be written fails its commit, so its effect has not happened', async () => {
  const { db } = service.deps
  await db.query(`alter table audit_log add constraint refused check (credential_kind <> 'trace refused') not valid`)
  try {
    const writing = inTx(db, async (tx) => {
      await note(tx, 'without its trace')
      audit(tx, { accountId: null, origin: null, way: 'trace refused' }, 'account.update')
    })
    await expect(writing).rejects.toBeInstanceOf(Error)
    expect(await written()).not.toContain('without its trace')
  } finally {
    await db.query('alter table audit_log drop constraint refused')
  }
})

test('a write of which any account is held by another transaction is passed over, or waits', async () => {
  const [held, free] = [newId(), newId()]
  const release = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const holder = alone(
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

test('work of one name is done one after the other, also behind one that failed, and that of another name beside it', async () => {
  const turns = createSerialRunner()
  const seen: string[] = []
  const gate = Promise.withResolvers<void>()
  const first = turns('one', async () => {
    seen.push('first')
    await gate.promise
    throw new Error('failed')
  })
  const second = turns('one', async () => seen.push('second'))
  await turns('other', async () => seen.push('other'))
  expect(seen).toEqual(['first', 'other'])
  gate.resolve()
  await expect(first).rejects.toThrow('failed')
  await second
  expect(seen).toEqual(['first', 'other', 'second'])
})
