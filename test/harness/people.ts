import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { type Client, withCall } from './client.ts'

/** A person signed in with a wallet. The session's cookie is the credential of `api`. */
export type Person = { wallet: PrivateKeyAccount; accountId: string; cookie: string; api: Client }

export const newWallet = (): PrivateKeyAccount => privateKeyToAccount(generatePrivateKey())

export const sessionCookieOf = (headers: Headers): string => {
  const header = headers.getSetCookie().find((cookie) => cookie.startsWith('service_session='))
  return header?.slice('service_session='.length).split(';')[0] ?? ''
}

/** The sign-in message for a wallet, ready to sign. */
export const walletMessage = async (client: Client, wallet: PrivateKeyAccount): Promise<string> => {
  const answer = await client.post('/v1/auth/wallet/nonce', { address: wallet.address })
  if (answer.status !== 200) throw new Error(`no message to sign: ${answer.status} ${answer.text}`)
  return answer.body.message
}

export const nonceIn = (message: string): string => /\nNonce: (\w+)\n/.exec(message)?.[1] ?? ''

/** Signs in again within the session: the answer proves the session if the wallet counts. */
export const prove = async ({ api, wallet }: Pick<Person, 'api' | 'wallet'>) => {
  const message = await walletMessage(api, wallet)
  return api.post('/v1/auth/wallet/verify', { message, signature: await wallet.signMessage({ message }) })
}

/**
 * A person whom the dashboard asks: proves the session again whenever the service wants it, and repeats refused requests. Tests
 * about proofs, in which time passes, use the session's cookie itself.
 */
const attentive = (api: Client, wallet: PrivateKeyAccount): Client =>
  withCall(api, async (method, path, options) => {
    const answer = await api.call(method, path, options)
    const isOwn = options?.cookie === undefined && options?.bearer === undefined
    if (!isOwn || answer.body?.error !== 'step_up_required' || (await prove({ api, wallet })).status !== 200) return answer
    return api.call(method, path, options)
  })

export const signIn = async (client: Client, wallet = newWallet()): Promise<Person> => {
  const message = await walletMessage(client, wallet)
  const signature = await wallet.signMessage({ message })
  const answer = await client.post('/v1/auth/wallet/verify', { message, signature })
  if (answer.status !== 200) throw new Error(`sign-in failed: ${answer.status} ${answer.text}`)
  const cookie = sessionCookieOf(answer.headers)
  return { wallet, accountId: answer.body.account.id, cookie, api: attentive(client.as({ cookie }), wallet) }
}

/** A key created over HTTP; `api` uses it. */
export type Key = { id: string; key: string; grantId: string; api: Client }

/** `creator`: a person, or the key that becomes the parent. */
export const createKey = async (creator: { api: Client }, fields: Record<string, unknown> = {}): Promise<Key> => {
  const answer = await creator.api.post('/v1/accounts/me/api-keys', { name: 'Agent', ...fields })
  if (answer.status !== 201) throw new Error(`no key was made: ${answer.status} ${answer.text}`)
  const { id, key, grant } = answer.body
  return { id, key, grantId: grant.id, api: creator.api.as({ bearer: key, cookie: undefined }) }
}

/** A session of the key's account that began with a wallet that the key linked. The key has `account.manage`. */
export const signInThroughKey = async (client: Client, key: Key): Promise<Person> => {
  const wallet = newWallet()
  const message = await walletMessage(key.api, wallet)
  const signature = await wallet.signMessage({ message })
  const answer = await key.api.post('/v1/accounts/me/identities', { provider: 'wallet', message, signature })
  if (answer.status !== 201) throw new Error(`no wallet was linked: ${answer.status} ${answer.text}`)
  return signIn(client, wallet)
}
