import type { Principal, RequestOrigin } from '../../../auth/principal.ts'
import { inTx, type Tx } from '../../../db/client.ts'
import { Refusal } from '../../../lib/errors.ts'
import type { Uuid } from '../../../lib/ids.ts'
import type { Deps } from '../../deps.ts'
import { type Link, linkIdentity, type SignIn, signIn } from '../identities/service.ts'
import { requireActiveCredential } from './still-active.ts'
import { examineWallet, redeemWallet, type SignedMessage, type WalletAttempt } from './wallet.ts'

/** Links the wallet to the caller's account. */
export const linkWallet = async (
  tx: Tx,
  deps: Pick<Deps, 'appendEvents' | 'config'>,
  principal: Principal,
  attempt: WalletAttempt,
): Promise<Link> => {
  const proof = await redeemWallet(tx, principal, attempt)
  return linkIdentity(tx, deps, principal, proof)
}

export type Verified = SignIn | (Link & { accountId: Uuid; session: null })

/** Signs in, or links the wallet to the caller's account when there is a caller. */
export const verifyWallet = async (
  deps: Pick<Deps, 'appendEvents' | 'clock' | 'config' | 'contractWallets' | 'db' | 'lastUsed'>,
  caller: Principal | null,
  origin: RequestOrigin,
  input: SignedMessage,
): Promise<Verified> => {
  if (caller && !caller.permissions.has('account.manage')) {
    throw new Refusal('forbidden', { details: { required_permission: 'account.manage' } })
  }
  const attempt = await examineWallet(deps, input)
  // A session begins in the workspace that was used last, so pending "last used" times are written first.
  await deps.lastUsed.flush()
  return inTx(deps.db, async (tx): Promise<Verified> => {
    if (caller) {
      await requireActiveCredential(tx, deps, caller)
      const link = await linkWallet(tx, deps, caller, attempt)
      return { ...link, accountId: caller.accountId, session: null }
    }
    const proof = await redeemWallet(tx, { accountId: null, origin, way: 'sign_in:wallet' }, attempt)
    return signIn(tx, deps, proof, origin)
  })
}
