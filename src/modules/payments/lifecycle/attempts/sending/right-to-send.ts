import { statement } from '../../../../../db/client.ts'
import { joinTurn } from '../../../../../db/join-turn.ts'
import { statesBefore } from '../../../../../db/transitions.ts'
import { serverSql } from '../../../../../db/witness.ts'
import { secondsAfter } from '../../../../../lib/clock.ts'
import type { Uuid } from '../../../../../lib/ids.ts'
import { timeoutMsOf } from '../../../../../rails/definitions.ts'
import type { SendPermission } from '../../../../../rails/rail.ts'
import type { Deps } from '../../../deps.ts'
import type { AttemptRecord } from '../queries.ts'
import { claimWithinSeconds, sendGraceSeconds, sendWithinSeconds } from '../schedule.ts'
import type { Order } from '../subject.ts'
import type { SendLane } from './claim.ts'

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

type RightDeps = Pick<Deps, 'clock' | 'config' | 'db' | 'sends' | 'witness'>

/**
 * Takes the right to send; only the process that has it may call the rail. One statement checks all conditions: the attempt is young and
 * still waits for its sender, its subject is under way, and the server is the one that was looked at. So a process that slept after it had
 * recorded an attempt sends nothing: the attempt may already count as not sent. Asked for by many sends at once, it is taken together.
 */
const createClaimer = (deps: RightDeps, kind: AttemptRecord['kind']) =>
  joinTurn<Claim, boolean>({
    query: async (asked) => {
      const server = deps.witness.trusted()
      if (server === undefined) return asked.map(() => false)
      const at = deps.clock.now()
      const rows = await deps.db.query<{ id: Uuid }>(claims[kind], [
        asked.map(({ id }) => id),
        asked.map(({ until }) => until),
        asked.map(({ sender }) => sender),
        asked.map(({ fingerprint }) => fingerprint),
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

export type PermissionFor = (lane: SendLane, order: Order) => SendPermission

/**
 * The permission to send an attempt: its right, recorded in the database, then a line in the journal of this machine. Whoever finds the
 * right and no line knows that nothing was sent. The time is read last: a process that slept anywhere before sends nothing.
 */
export const createPermissions = (deps: RightDeps): PermissionFor => {
  const claimers = { payment: createClaimer(deps, 'payment'), topup: createClaimer(deps, 'topup') }
  return ({ subject, rail }, { attemptId, at }) => {
    const lastMs = secondsAfter(at, sendWithinSeconds).getTime()
    const graceSeconds = sendGraceSeconds(timeoutMsOf(rail, deps.config))
    let claimed: Promise<boolean> | undefined
    return {
      withinMs: lastMs - deps.clock.now().getTime(),
      // A second time after a gateway that refused the token.
      take: async (fingerprint) => {
        const sender = deps.sends?.sender()
        const until = secondsAfter(deps.clock.now(), graceSeconds)
        claimed ??= claimers[subject.kind]({ id: attemptId, until, sender: sender?.id ?? null, fingerprint }).then((isOurs) => {
          if (isOurs) sender?.note(attemptId)
          return isOurs
        })
        return (await claimed) && deps.clock.now().getTime() <= lastMs
      },
    }
  }
}
