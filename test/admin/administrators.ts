import type { PrivateKeyAccount } from 'viem/accounts'
import type { Client } from '../harness/client.ts'
import { newWallet, type Person, signIn } from '../harness/people.ts'
import { startService, type TestOptions, type TestService } from '../harness/service.ts'

export type Administered = { service: TestService; admin: Person; second: Person; wallets: PrivateKeyAccount[] }

/** An administrator who signs in again whenever the service asks for it, and repeats what was refused: time passes in these tests. */
const attentive = (service: TestService, person: Person): Person => {
  let current = person.api
  const call: Client['call'] = async (method, path, options) => {
    const answer = await current.call(method, path, options)
    if (!['step_up_required', 'token_expired'].includes(answer.body?.error)) return answer
    current = (await signIn(service.api, person.wallet)).api
    return current.call(method, path, options)
  }
  const api: Client = {
    ...person.api,
    call,
    get: (path, options) => call('GET', path, options),
    post: (path, body, options) => call('POST', path, { ...options, ...(body !== undefined && { body }) }),
    patch: (path, body, options) => call('PATCH', path, { body, ...options }),
    put: (path, body, options) => call('PUT', path, { body, ...options }),
    delete: (path, options) => call('DELETE', path, options),
  }
  return { ...person, api }
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
