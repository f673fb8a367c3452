import type { Vault } from '../../auth/vault.ts'
import { lockAccount } from '../../db/account-lock.ts'
import { type Database, inTx, statement, type Tx } from '../../db/client.ts'
import { prepareUpdate } from '../../db/prepare-write.ts'
import { beneficiaries } from '../../db/tables/beneficiaries.ts'
import type { AppendEvents } from '../../events/append.ts'
import type { Lane, Task } from '../../jobs/lane.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { NameSource } from '../../lib/verification.ts'
import type { NameAnswer, Rails } from '../../rails/rail.ts'
import { destinationContext } from './destination-context.ts'
import { presentBeneficiary } from './present.ts'
import { type BeneficiaryRecord, findBeneficiary } from './queries.ts'
import { findSimilar, noteSimilar } from './similar.ts'
import { nextCheckAt, verified } from './verification-rules.ts'

// Checks of names: whose number a payee's is, and whose name it looks like. A payee whose check is due is its own queue entry
// (`name_check_due_at`): after its creation and its renaming, on request, and when a payment's result named somebody else
// (`result_name`). A payment never waits for one: it is decided by what is stored.

export type NameCheckDeps = {
  db: Database
  clock: Clock
  vault: Vault
  rails: Pick<Rails, 'payout'>
  appendEvents: AppendEvents
  /** Called in the transaction that writes another name or status: what names the payee says so too. */
  onNameChanged: (tx: Tx, payee: BeneficiaryRecord) => Promise<void>
}

type Due = { id: Uuid; workspaceId: Uuid; tenant: Uuid }

/** A process that dies during a check leaves it due again after this time. */
const leaseSeconds = 300

/** One of each workspace, then the next one of each: nobody's thousands delay another's. Those that another process takes are passed over. */
const claimDue = statement(
  'beneficiaries.claim_name_checks',
  `update beneficiaries b set name_check_due_at = $1::timestamptz + make_interval(secs => ${leaseSeconds}) from workspaces w
   where w.id = b.workspace_id and b.id in (
     select c.id from beneficiaries c join (
       select id, row_number() over (partition by workspace_id order by name_check_due_at) as place from (
         select id, workspace_id, name_check_due_at from beneficiaries
         where name_check_due_at <= $1 and id <> all($2::uuid[]) order by name_check_due_at limit 1000) as due
       order by place limit $3) as turn on turn.id = c.id
     where c.name_check_due_at <= $1 for update of c skip locked)
   returning b.id, b.workspace_id as "workspaceId", w.owning_account_id as tenant`,
)

const writeFound = prepareUpdate('beneficiaries.write_name_check', beneficiaries, [
  'verification',
  'reportedName',
  'nameSource',
  'nameCheckedAt',
  'nameChecks',
  'nameCheckDueAt',
  'resultName',
])

/** Undefined for a destination that cannot be decrypted: its payments report that. */
const open = ({ vault }: Pick<NameCheckDeps, 'vault'>, payee: BeneficiaryRecord): string | undefined => {
  const sealed = { ciphertext: payee.destinationCiphertext, keyId: payee.destinationKeyId }
  try {
    return vault.open(sealed, destinationContext(payee.id, payee.workspaceId))
  } catch {
    return undefined
  }
}

const ask = (deps: NameCheckDeps, payee: BeneficiaryRecord): Promise<NameAnswer> | null => {
  const lookUp = deps.rails.payout[payee.paymentRail]?.lookUp
  if (!lookUp) return null
  const destination = open(deps, payee)
  if (destination === undefined) return Promise.resolve({ kind: 'unreachable' })
  const isPaybill = payee.accountReference !== null || payee.accountReferenceRequired
  return lookUp({ rail: payee.paymentRail, destination, bankCode: payee.bankCode, isPaybill })
}

/** `similar`: the other payee whose name looks like that of `payee`, as it was read. */
type Result = { answer: NameAnswer | null; source: NameSource; payee: BeneficiaryRecord; similar: Uuid | null }

const isNews = (before: BeneficiaryRecord, after: Pick<BeneficiaryRecord, 'verification' | 'reportedName'>): boolean =>
  before.verification !== after.verification || before.reportedName !== after.reportedName

/** Writes what was found, and publishes it where it says something new. */
const record = async (tx: Tx, deps: NameCheckDeps, due: Due, { answer, source, payee, similar }: Result): Promise<void> => {
  const { at } = tx
  await lockAccount(tx, due.tenant)
  const before = await findBeneficiary(tx, due.workspaceId, due.id)
  if (!before) return
  const isUnchanged = before.displayName === payee.displayName && before.payeeId === payee.payeeId
  const similarToId = isUnchanged ? similar : await findSimilar(tx, before)
  await noteSimilar(tx, before, similarToId)
  const checks = answer?.kind === 'unreachable' ? before.nameChecks + 1 : 0
  const again = answer?.kind === 'unreachable' ? nextCheckAt(checks, at) : null
  const after = {
    ...before,
    ...(answer && verified(before, answer, source, at)),
    similarToId,
    nameChecks: checks,
    nameCheckDueAt: again,
    ...(source === 'payment' && { resultName: null }),
  }
  writeFound(tx, due.id, after)
  if (!isNews(before, after)) return
  await deps.onNameChanged(tx, after)
  const data = presentBeneficiary(after)
  await deps.appendEvents(tx, at, [{ type: 'beneficiary.updated', accountId: due.tenant, workspaceId: due.workspaceId, data }])
}

const check = async (deps: NameCheckDeps, due: Due): Promise<void> => {
  const payee = await findBeneficiary(deps.db, due.workspaceId, due.id)
  if (!payee) return
  const { resultName } = payee
  const [similar, answer] = await Promise.all([
    findSimilar(deps.db, payee),
    resultName === null ? (payee.archivedAt ? null : ask(deps, payee)) : ({ kind: 'named', name: resultName } as const),
  ])
  const source = resultName === null ? 'lookup' : 'payment'
  await inTx(deps.db, (tx) => record(tx, deps, due, { answer, source, payee, similar }))
}

/** As many queries for names as are under way at once in this process. */
const mostAtOnce = 4

export const createNamesLane = (deps: NameCheckDeps): Lane => ({
  name: 'names',
  limit: mostAtOnce,
  claim: async ({ free, except }) => {
    const due = await deps.db.query<Due>(claimDue, [deps.clock.now(), except, free])
    const tasks = due.map((each): Task => ({ key: each.id, tenant: each.tenant, run: () => check(deps, each) }))
    return { tasks, more: due.length === free }
  },
})
