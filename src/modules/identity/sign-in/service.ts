import type { Principal, RequestOrigin } from '../../../auth/principal.ts'
import { inTx, type Tx } from '../../../db/client.ts'
import { Refusal } from '../../../lib/errors.ts'
import type { Uuid } from '../../../lib/ids.ts'
import type { Account } from '../accounts/schema.ts'
import { readAccount } from '../accounts/service.ts'
import type { Deps } from '../deps.ts'
import { type Link, linkIdentity, type SignIn, signIn } from '../identities/service.ts'
import type { NewSession } from '../sessions/service.ts'
import { requireActiveCredential } from './still-active.ts'
import { createReturningWallets } from './wallet/returning-wallets.ts'
import { examineWallet, plainProof, readAttempt, redeemWallet, type SignedMessage, type WalletAttempt } from './wallet/wallet.ts'

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

export type Verified = { outcome: SignIn['outcome'] | Link['outcome']; account: Account; session: NewSession | null }

export type VerifyWallet = (caller: Principal | null, origin: RequestOrigin, input: SignedMessage) => Promise<Verified>

type VerifyDeps = Pick<
  Deps,
  'appendEvents' | 'clock' | 'config' | 'contractWallets' | 'db' | 'derivations' | 'lastUsed' | 'logger'
>

const finishAlone = async (
  deps: VerifyDeps,
  caller: Principal | null,
  origin: RequestOrigin,
  attempt: WalletAttempt,
): Promise<Verified> => {
  await deps.lastUsed.flush()
  const { account, ...result } = await inTx(deps.db, async (tx) => {
    /** Read with the commit. */
    const show = (accountId: Uuid) => {
      const shown = readAccount(tx, deps, accountId)
      tx.defer(shown)
      return shown
    }
    if (caller) {
      await requireActiveCredential(tx, deps, caller)
      const { outcome } = await linkWallet(tx, deps, caller, attempt)
      return { outcome, session: null, account: { shown: show(caller.accountId) } }
    }
    const proof = await redeemWallet(tx, { accountId: null, origin, way: 'sign_in:wallet' }, attempt)
    const { outcome, accountId, session } = await signIn(tx, deps, proof, origin)
    return { outcome, session, account: { shown: show(accountId) } }
  })
  return { ...result, account: await account.shown }
}

/** Signs in, or links the wallet to the caller's account when there is a caller. */
export const createVerifyWallet = (deps: VerifyDeps): VerifyWallet => {
  const signInReturning = createReturningWallets(deps)
  return async (caller, origin, input) => {
    if (caller && !caller.permissions.has('account.manage')) {
      throw new Refusal('forbidden', { details: { required_permission: 'account.manage' } })
    }
    const attempt = readAttempt(deps, input)
    const plain = caller ? undefined : plainProof(attempt)
    const answer = plain && (await signInReturning({ ...plain, origin }))
    if (answer && 'outcome' in answer) return answer
    return finishAlone(deps, caller, origin, answer ?? (await examineWallet(deps, attempt)))
  }
}
