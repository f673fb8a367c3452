import { eq } from 'drizzle-orm'
import type { Vault } from '../../../../../auth/vault.ts'
import { first, type Tx } from '../../../../../db/client.ts'
import { prepare } from '../../../../../db/prepare.ts'
import { beneficiaries } from '../../../../../db/tables/beneficiaries.ts'
import { payments } from '../../../../../db/tables/payments.ts'
import type { Uuid } from '../../../../../lib/ids.ts'
import { destinationContext } from '../../../../beneficiaries/destination-context.ts'

const payeeOf = prepare('payments.payee', { paymentId: 'uuid' }, (orm, at) =>
  orm
    .select({
      id: beneficiaries.id,
      workspaceId: beneficiaries.workspaceId,
      ciphertext: beneficiaries.destinationCiphertext,
      keyId: beneficiaries.destinationKeyId,
    })
    .from(payments)
    .innerJoin(beneficiaries, eq(beneficiaries.id, payments.beneficiaryId))
    .where(eq(payments.id, at.paymentId)),
)

/** Whether the provider paid the one that the payment was for. */
export const isPayee = async (tx: Tx, vault: Vault, paymentId: Uuid, receiver: string): Promise<boolean> => {
  const payee = await first(tx, payeeOf, { paymentId })
  return payee !== undefined && vault.open(payee, destinationContext(payee.id, payee.workspaceId)) === receiver
}
