import type { PrivateKeyAccount } from 'viem/accounts'
import { newWallet, type Person, signIn } from '../harness/people.ts'
import { startService, type TestOptions, type TestService } from '../harness/service.ts'

export type Administered = { service: TestService; admin: Person; second: Person; wallets: PrivateKeyAccount[] }

/** A service whose settings name two administrators by their wallets, both signed in. */
export const startAdministered = async (options: TestOptions = {}): Promise<Administered> => {
  const wallets = [newWallet(), newWallet()]
  const env = { ...options.env, ADMIN_ACCOUNTS: wallets.map(({ address }) => address).join(',') }
  const service = await startService({ ...options, env })
  const [admin, second] = await Promise.all(wallets.map((wallet) => signIn(service.api, wallet)))
  if (!admin || !second) throw new Error('two administrators sign in')
  return { service, admin, second, wallets }
}
