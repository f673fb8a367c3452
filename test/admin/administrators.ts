import type { PrivateKeyAccount } from 'viem/accounts'
import { type Client, withCall } from '../harness/client.ts'
import { newWallet, type Person, signIn } from '../harness/people.ts'
import { startService, type TestOptions, type TestService } from '../harness/service.ts'

export type Administered = { service: TestService; admin: Person; second: Person; wallets: PrivateKeyAccount[] }

/** An administrator who signs in again once the twelve-hour session has ended, and repeats refused requests. */
const attentive = (service: TestService, person: Person): Person => {
  let current = person.api
  const call: Client['call'] = async (method, path, options) => {
    const answer = await current.call(method, path, options)
    if (answer.body?.error !== 'token_expired') return answer
    current = (await signIn(service.api, person.wallet)).api
    return current.call(method, path, options)
  }
  return { ...person, api: withCall(person.api, call) }
}

/** A service whose settings name two administrators by their wallets, both signed in. */
export const startAdministered = async (options: TestOptions = {}): Promise<Administered> => {
  const wallets = [newWallet(), newWallet()]
  const env = { ...options.env, ADMIN_ACCOUNTS: wallets.map(({ address }) => address).join(',') }
  const service = await startService({ ...options, env })
  const [admin, second] = await Promise.all(wallets.map((wallet) => signIn(service.api, wallet)))
  if (!admin || !second) throw new Error('two administrators sign in')
  return { service, admin: attentive(service, admin), second: attentive(service, second), wallets }
}
