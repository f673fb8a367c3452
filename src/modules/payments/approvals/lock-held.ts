import type { Principal } from '../../../auth/principal.ts'
import type { Tx } from '../../../db/client.ts'
import { found, Refusal } from '../../../lib/errors.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { parseWalletName } from '../../../lib/wallet-name.ts'
import type { ChainAnswers } from '../evaluation/contract-wallets.ts'
import { type LockedApproval, lockWhole, lockWholeById } from './lock.ts'
import { currentDecisions } from './queries.ts'
import { voidRefusedDecisions } from './void.ts'

/** Contract wallets have signed decisions, and their chains were not asked yet: that takes time, so it is done outside of the transaction. */
export class UnaskedChains extends Refusal {
  constructor() {
    super('unavailable', { headers: { 'retry-after': '1' } })
  }
}

const hasContractSigned = (record: LockedApproval): boolean =>
  currentDecisions(record).some(
    ({ decision, signer }) => decision === 'approve' && (parseWalletName(signer ?? '')?.chainId ?? null) !== null,
  )

type Held = { id: Uuid; principal?: Principal; answers: ChainAnswers | null }

/** Locks an approval, without the decisions in it that the chains of their contract wallets refuse now. `answers`: null where none was asked. */
export const lockHeld = async (tx: Tx, { id, principal, answers }: Held): Promise<LockedApproval> => {
  const record = found(await lockWholeById(tx, id, principal?.workspace.id))
  const isPending = record.approval.status === 'pending'
  if (isPending && answers === null && hasContractSigned(record)) throw new UnaskedChains()
  const isVoided = isPending && answers !== null && (await voidRefusedDecisions(tx, answers))
  return isVoided ? lockWhole(tx, record) : record
}
