import { insertRow } from '../../src/db/prepare-write.ts'
import { adjustments } from '../../src/db/tables/adjustments.ts'
import { audit } from '../../src/events/audit.ts'
import { transfer } from '../../src/ledger/ledger.ts'
import { newId, parseId, type Uuid } from '../../src/lib/ids.ts'
import { findWorkspace } from '../../src/modules/workspaces/queries.ts'
import type { Client } from './client.ts'
import type { Person } from './people.ts'
import type { TestService } from './service.ts'

/** The ledger account that holds the balance of an account or a workspace. */
const holderOf = async ({ deps: { db } }: TestService, balanceOf: string): Promise<Uuid> => {
  const id = parseId('account', balanceOf) ?? parseId('workspace', balanceOf)
  if (!id) throw new Error('neither an account id nor a workspace id')
  return (await findWorkspace(db, id))?.balanceAccountId ?? id
}

/** Money by an adjustment: for tests that are not about top-ups. `balanceOf`: an account's id, or a workspace's. */
export const credit = async (service: TestService, balanceOf: string, amountMinor: bigint): Promise<void> => {
  const ownerId = await holderOf(service, balanceOf)
  const at = service.clock.now()
  const id = newId()
  await service.deps.db.transaction(async (tx) => {
    const reference = { type: 'adjustment' as const, id }
    const { transferId } = await transfer(tx, { ownerId, amountMinor, against: 'adjustments', reference })
    const made = { accountId: ownerId, amountMinor, transferId, currency: service.deps.config.CURRENCY, createdAt: at }
    insertRow(tx, adjustments, { id, kind: 'balance', status: 'posted', reason: 'a test', requestedBy: 'a test', ...made })
    audit(tx, { accountId: null, origin: null, way: 'test' }, 'admin.adjustment_post', { subject: id })
  })
}

/** Writes rows past the schema's triggers: rows that no version of the service writes, or more of them than in an hour. */
export const unguarded = ({ deps: { db } }: TestService, text: string, values: unknown[]): Promise<unknown> =>
  db.transaction(async (tx) => {
    await tx.query('set local session_replication_role = replica')
    await tx.query(text, values)
  })

/** Restores the state of teams until version 0.4.0: the workspace draws on its owning account's balance. */
export const shareBalance = (service: TestService, workspaceId: string): Promise<unknown> =>
  unguarded(service, 'update workspaces set balance_account_id = null where id = $1', [parseId('workspace', workspaceId)]).then(
    () =>
      unguarded(
        service,
        `with holder as (delete from accounts where holder_of_workspace_id = $1 returning id)
       delete from ledger_accounts l using holder where l.owner_id = holder.id`,
        [parseId('workspace', workspaceId)],
      ),
  )

let serial = 0

/** A beneficiary with a phone of its own. `fields` may give a destination. */
export const newBeneficiary = async (api: Client, fields: Record<string, unknown> = {}): Promise<string> => {
  serial += 1
  const destination = `2547${String(20_000_000 + serial).padStart(8, '0')}`
  const answer = await api.post('/v1/beneficiaries', {
    type: 'supplier',
    display_name: `Supplier ${serial}`,
    payment_rail: 'MPESA_B2C',
    destination,
    ...fields,
  })
  if (answer.status !== 201) throw new Error(`no beneficiary: ${answer.text}`)
  return answer.body.id
}

const largestTopupMinor = 25_000_000n

/** Money for the person's current workspace in whole shillings, by a real top-up: a prompt, and the provider's report. */
export const fund = async (service: TestService, person: Pick<Person, 'api'>, amountMinor: bigint): Promise<void> => {
  for (let left = amountMinor; left > 0n; left -= largestTopupMinor) {
    const part = left < largestTopupMinor ? left : largestTopupMinor
    const initiated = await person.api.post('/v1/topups/initiate', {
      amount_minor: part.toString(),
      phone_number: '254722000001',
    })
    if (initiated.status !== 201) throw new Error(`a top-up was refused: ${initiated.status} ${initiated.text}`)
    await service.settle()
    const topup = await person.api.get(`/v1/topups/${initiated.body.id}`)
    if (topup.body.status !== 'succeeded') throw new Error(`a top-up did not succeed: ${topup.text}`)
  }
}
