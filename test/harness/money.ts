import { transfer } from '../../src/ledger/ledger.ts'
import { newId, parseId } from '../../src/lib/ids.ts'
import type { Client } from './client.ts'
import type { TestService } from './service.ts'

/** Money from nowhere (an adjustment): for tests that are not about top-ups. */
export const credit = async (service: TestService, accountId: string, amountMinor: bigint): Promise<void> => {
  const ownerId = parseId('account', accountId)
  if (!ownerId) throw new Error('not an account id')
  const reference = { type: 'adjustment' as const, id: newId() }
  await service.deps.db.transaction((tx) => transfer(tx, { ownerId, amountMinor, against: 'adjustments', reference, at: service.clock.now() }))
}

let serial = 0

/** A beneficiary with a phone of its own, unless a destination is given. */
export const newBeneficiary = async (api: Client, fields: Record<string, unknown> = {}): Promise<string> => {
  serial += 1
  const destination = `2547${String(20_000_000 + serial).padStart(8, '0')}`
  const answer = await api.post('/v1/beneficiaries', { type: 'supplier', display_name: `Supplier ${serial}`, payment_rail: 'MPESA_B2C', destination, ...fields })
  if (answer.status !== 201) throw new Error(`no beneficiary: ${answer.text}`)
  return answer.body.id
}
