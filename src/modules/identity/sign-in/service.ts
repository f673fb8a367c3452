import type { Principal, RequestOrigin } from '../../../auth/principal.ts'
import type { Config } from '../../../config.ts'
import type { Tx } from '../../../db/client.ts'
import { auditAll } from '../../../events/audit.ts'
import { CommitThenThrow, Refusal } from '../../../lib/errors.ts'
import type { Deps } from '../deps.ts'
import { type Link, linkIdentity } from '../identities/service.ts'
import { refused } from './refused.ts'
import type { SignedIn, SignIn } from './sign-in.ts'
import { examineWallet, type SignedMessage, type WalletAttempt } from './wallet/wallet.ts'

export const signInWithWallet = async (
  deps: Pick<Deps, 'clock' | 'config' | 'contractWallets' | 'db' | 'derivations'>,
  signIn: SignIn,
  origin: RequestOrigin,
  input: SignedMessage,
): Promise<SignedIn> => signIn({ ...(await examineWallet(deps, input)), provider: 'wallet', origin })

/** Links the wallet to the caller's account. A proof that failed commits its audit row. */
export const linkWallet = async (
  tx: Tx,
  config: Config,
  principal: Principal,
  verdict: WalletAttempt['verdict'],
): Promise<Link> => {
  if (!(verdict instanceof Refusal)) return linkIdentity(tx, config, principal, verdict)
  await auditAll(tx, tx.at, [refused(principal, 'wallet', verdict)])
  throw new CommitThenThrow(verdict)
}
