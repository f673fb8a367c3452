import type { OrderNames } from '../../auth/order-names.ts'
import { lockBatch } from '../../db/account-lock.ts'
import { inTx, statement, type Tx } from '../../db/client.ts'
import { joinTurn } from '../../db/join-turn.ts'
import { statesBefore } from '../../db/transitions.ts'
import { serverSql } from '../../db/witness.ts'
import { secondsAfter } from '../../lib/clock.ts'
import type { Uuid } from '../../lib/ids.ts'
import { fieldsOf } from '../../lib/lists.ts'
import { contended, type Outcome } from '../../queue/account-queue.ts'
import type { SendPermission } from '../../rails/rail.ts'
import {
  callbackUrls,
  claimWithinSeconds,
  type Order,
  type Outgoing,
  sendGraceSeconds,
  sendWithinSeconds,
} from '../attempts/attempt.ts'
import { type AttemptRecord, insertAttempts } from '../attempts/queries.ts'
import type { Parts } from '../parts.ts'
import type { ChainAnswers } from '../payments/evaluation/authority.ts'
import { preparePayments } from '../payments/send.ts'
import { prepareTopups } from '../topups/send.ts'

export type Recorded = { outgoing: Outgoing; order: Order }

const newAttempt = (orderNames: OrderNames, { subjectId, accountId, amountMinor, seed, earlier }: Outgoing, skipped: number) => {
  const generation = earlier.generation + skipped
  const order = orderNames.orderOf(seed, generation)
  const send = earlier.sends + 1
  return { id: orderNames.attemptOf(order, send), subjectId, accountId, amountMinor, ...order, generation, send }
}

/** What is sent by one rail: payments, or the prompts of top-ups. */
export type SendLane = Pick<AttemptRecord, 'kind' | 'rail'>

const mostGenerations = 5

/** Records one attempt for each, in one statement, and repeats it for those whose names belong to another payment, with the next names. */
const recordAttempts = async (tx: Tx, deps: Parts, lane: SendLane, outgoing: readonly Outgoing[]): Promise<Recorded[]> => {
  const { at } = tx
  const recorded: Recorded[] = []
  let open = outgoing
  for (let skipped = 0; open.length > 0; skipped += 1) {
    if (skipped === mostGenerations) throw new Error('no free name was found for an order')
    const named = open.map((each) => ({ outgoing: each, attempt: newAttempt(deps.orderNames, each, skipped) }))
    const common = {
      ...lane,
      state: 'recorded',
      nextCheckAt: secondsAfter(at, claimWithinSeconds),
      createdAt: at,
      updatedAt: at,
    } as const
    const rows = named.map(({ attempt }) => ({ ...common, ...attempt }))
    const inserted = new Set((await insertAttempts(tx.query, rows)).map(({ id }) => id))
    for (const { outgoing: each, attempt } of named) {
      const { id: attemptId, orderId, reference } = attempt
      const callbacks = callbackUrls(deps.orderNames, deps.config.operatorUrl, attemptId)
      if (inserted.has(attemptId)) recorded.push({ outgoing: each, order: { attemptId, orderId, reference, at, callbacks } })
    }
    open = named.flatMap(({ outgoing: each, attempt }) => (inserted.has(attempt.id) ? [] : [each]))
  }
  return recorded
}

/** A payment or a top-up that is due, and the account that owns it. `answers`: of the chains about the approvals that it rests on. */
export type Due = { id: Uuid; tenant: Uuid; answers: ChainAnswers }

const recordAll = async (tx: Tx, deps: Parts, lane: SendLane, due: readonly Due[]): Promise<Recorded[]> => {
  const ids = [...new Set(due.map(({ id }) => id))]
  const answers = new Map(due.flatMap((each) => [...each.answers]))
  const prepared = lane.kind === 'payment' ? preparePayments(tx, deps, ids, answers) : prepareTopups(tx, deps, ids)
  return recordAttempts(tx, deps, lane, await prepared)
}

export const tenantsOf = (due: readonly { tenant: Uuid }[]): Uuid[] => [...new Set(due.map(({ tenant }) => tenant))]

/** Records an attempt for each task in one transaction: null where there is nothing to send now. A task that is named twice is sent once. */
export const claimDue = async (
  deps: Parts,
  lane: SendLane,
  due: readonly Due[],
  wait: boolean,
): Promise<Outcome<Recorded | null>[]> => {
  const { recorded, busy } = await inTx(deps.db, async (tx) => {
    const busy = await lockBatch(tx, { exclusive: tenantsOf(due) }, wait)
    const free = due.filter(({ tenant }) => !busy.has(tenant))
    return { recorded: free.length === 0 ? [] : await recordAll(tx, deps, lane, free), busy }
  })
  const sendable = new Map(recorded.map((each) => [each.outgoing.subjectId, each]))
  return due.map(({ id, tenant }) => {
    if (busy.has(tenant)) return contended
    const own = sendable.get(id) ?? null
    sendable.delete(id)
    return own
  })
}

const claim = (kind: AttemptRecord['kind'], table: string, underWay: string) =>
  statement(
    `attempts.claim_${kind}`,
    `update rail_attempts a set state = 'sending', next_check_at = x.until, sender_id = x.sender, fingerprint = x.fingerprint, updated_at = $5
     from unnest($1::uuid[], $2::timestamptz[], $3::uuid[], $4::bytea[]) as x(id, until, sender, fingerprint)
     where a.id = x.id and a.state = any($7::text[]) and a.created_at > $6 and $8 = (select ${serverSql})
       and exists (select from ${table} s where s.id = a.subject_id and s.status = '${underWay}')
     returning a.id`,
  )
const claims = {
  payment: claim('payment', 'payments', 'processing'),
  topup: claim('topup', 'topups', 'pending'),
}

type Claim = { id: Uuid; until: Date; sender: Uuid | null; fingerprint: Buffer }

const mostInStatement = 256

/**
 * Takes the right to send; only the process that has it may call the rail. One statement checks all conditions, so a process that slept after it
 * had recorded an attempt sends nothing: the attempt may already count as not sent. Asked for by many sends at once, it is taken together.
 */
const createClaimer = (deps: Parts, kind: AttemptRecord['kind']) =>
  joinTurn<Claim, boolean>({
    query: async (asked) => {
      const server = deps.witness.trusted()
      if (server === undefined) return asked.map(() => false)
      const at = deps.clock.now()
      const rows = await deps.db.query<{ id: Uuid }>(claims[kind], [
        ...fieldsOf(asked, 'id', 'until', 'sender', 'fingerprint'),
        at,
        secondsAfter(at, -claimWithinSeconds),
        statesBefore('attempt', 'sending'),
        server,
      ])
      const claimed = new Set(rows.map(({ id }) => id))
      deps.db.mark.note('sent', [...claimed])
      // Perhaps because another server answered.
      if (claimed.size < asked.length) deps.witness.doubt()
      return asked.map(({ id }) => claimed.has(id))
    },
    inFlight: 2,
    maxKeys: mostInStatement,
  })

/**
 * The permission to send an attempt: its right, recorded in the database, then a line in the journal of this machine. Whoever finds the
 * right and no line knows that nothing was sent. The time is read last: a process that slept anywhere before sends nothing.
 */
export const createPermissions = (deps: Parts) => {
  const claimers = { payment: createClaimer(deps, 'payment'), topup: createClaimer(deps, 'topup') }
  return ({ kind }: SendLane, { attemptId, at }: Order): SendPermission => {
    const lastMs = secondsAfter(at, sendWithinSeconds).getTime()
    let claimed: Promise<boolean> | undefined
    return {
      withinMs: lastMs - deps.clock.now().getTime(),
      // A second time after a gateway that refused the token.
      take: async (fingerprint) => {
        const sender = deps.sends?.sender()
        const until = secondsAfter(deps.clock.now(), sendGraceSeconds)
        claimed ??= claimers[kind]({ id: attemptId, until, sender: sender?.id ?? null, fingerprint }).then((isOurs) => {
          if (isOurs) sender?.note(attemptId)
          return isOurs
        })
        return (await claimed) && deps.clock.now().getTime() <= lastMs
      },
    }
  }
}
