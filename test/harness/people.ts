import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import type { Client } from './client.ts'

/** A person with a wallet, signed in by it: the session's cookie is the credential of `api`. */
export type Person = { wallet: PrivateKeyAccount; accountId: string; cookie: string; api: Client }

export const newWallet = (): PrivateKeyAccount => privateKeyToAccount(generatePrivateKey())

export const sessionCookieOf = (headers: Headers): string => {
  const header = headers.getSetCookie().find((cookie) => cookie.startsWith('service_session='))
  return header?.slice('service_session='.length).split(';')[0] ?? ''
}

/** The sign-in's message for a wallet, ready to be signed. */
export const walletMessage = async (client: Client, wallet: PrivateKeyAccount): Promise<string> => {
  const answer = await client.post('/v1/auth/wallet/nonce', { address: wallet.address })
  if (answer.status !== 200) throw new Error(`no message to sign: ${answer.status} ${answer.text}`)
  return answer.body.message
}

export const nonceIn = (message: string): string => /\nNonce: (\w+)\n/.exec(message)?.[1] ?? ''

export const signIn = async (client: Client, wallet = newWallet()): Promise<Person> => {
  const message = await walletMessage(client, wallet)
  const signature = await wallet.signMessage({ message })
  const answer = await client.post('/v1/auth/wallet/verify', { message, signature })
  if (answer.status !== 200) throw new Error(`sign-in failed: ${answer.status} ${answer.text}`)
  const cookie = sessionCookieOf(answer.headers)
  return { wallet, accountId: answer.body.account.id, cookie, api: client.as({ cookie }) }
}

/** A key created over HTTP; `api` uses it. */
export type Key = { id: string; key: string; grantId: string; api: Client }

/** `creator`: a person, or another key, which becomes its parent. */
export const createKey = async (creator: { api: Client }, fields: Record<string, unknown> = {}): Promise<Key> => {
  const answer = await creator.api.post('/v1/accounts/me/api-keys', { name: 'Agent', ...fields })
  if (answer.status !== 201) throw new Error(`no key was made: ${answer.status} ${answer.text}`)
  const { id, key, grant } = answer.body
  return { id, key, grantId: grant.id, api: creator.api.as({ bearer: key, cookie: undefined }) }
}
