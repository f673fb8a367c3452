import { Payments } from '../client.ts'
import { discover, refreshTokens } from '../oauth.ts'
import { type Login, readLogin, writeLogin } from './store.ts'

export const defaultUrl = 'http://localhost:3000'
/** Fresh enough for a call that is about to be made. */
const marginMs = 60_000

/** What a person did wrong, in one sentence. */
export class UsageError extends Error {}

/** The access token of the login, refreshed and kept when it is about to end. One refresh at a time: a token is good for one. */
const freshToken = (file: string, first: Login): (() => Promise<string>) => {
  let login = first
  let refreshing: Promise<void> | undefined
  const refresh = async () => {
    const { refreshToken } = login.tokens
    if (refreshToken === undefined) throw new UsageError('The login has ended: payments login')
    const metadata = await discover(fetch, login.baseUrl)
    login = { ...login, tokens: await refreshTokens(fetch, metadata, login.clientId, refreshToken) }
    await writeLogin(file, login)
  }
  return async () => {
    if (login.tokens.expiresAt - Date.now() < marginMs) {
      refreshing ??= refresh().finally(() => {
        refreshing = undefined
      })
      await refreshing
    }
    return login.tokens.accessToken
  }
}

/** By an API key from the environment, else as who logged in. */
export const openClient = async (env: NodeJS.ProcessEnv, file: string, url: string | undefined): Promise<Payments> => {
  const { PAYMENTS_API_KEY: apiKey, PAYMENTS_URL } = env
  if (apiKey) return new Payments({ baseUrl: url ?? PAYMENTS_URL ?? defaultUrl, apiKey })
  const login = await readLogin(file)
  if (!login) throw new UsageError('Not logged in: run payments login, or set PAYMENTS_API_KEY.')
  if (url !== undefined && url !== login.baseUrl)
    throw new UsageError(`The login is for ${login.baseUrl}: payments login --url ${url}`)
  return new Payments({ baseUrl: login.baseUrl, accessToken: freshToken(file, login) })
}
