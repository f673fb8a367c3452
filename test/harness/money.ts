import { insertRow } from '../../src/db/prepare-write.ts'
import { adjustments } from '../../src/db/tables/adjustments.ts'
import { audit } from '../../src/events/audit.ts'
import { transfer } from '../../src/ledger/ledger.ts'
import { newId, parseId } from '../../src/lib/ids.ts'
import type { Client } from './client.ts'
import type { Person } from './people.ts'
import type { TestService } from './service.ts'

/** Money by an adjustment: for tests that are not about top-ups. */
export const credit = async (service: TestService, accountId: string, amountMinor: bigint): Promise<void> => {
  const ownerId = parseId('account', accountId)
  if (!ownerId) throw new Error('not an account id')
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

let serial = 0

/** A beneficiary with a phone of its own, unless a destination is given. */
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

/** Money by a real top-up: the phone gets a prompt, and the provider reports the payment. Whole shillings. */
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
