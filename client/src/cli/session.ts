import { Payments } from '../client.ts'
import { discover, refreshTokens } from '../oauth.ts'
import { type Login, loginFile, readLogin, writeLogin } from './store.ts'
import type { Terminal } from './terminal.ts'

export const defaultUrl = 'http://localhost:3000'
/** Minimum remaining token validity for a new call. */
const marginMs = 60_000

/** A user error, described in one sentence. */
export class UsageError extends Error {}

/** An earlier run of the same command already did the work, so this run did nothing. */
export class AlreadyDoneError extends Error {}

/** Returns the login's access token, refreshed shortly before expiry. Refreshes once at a time: a refresh token works once. */
const freshToken = (file: string, first: Login): (() => Promise<string>) => {
  let login = first
  let refreshing: Promise<void> | undefined
  const refresh = async () => {
    const { refreshToken } = login.tokens
    if (refreshToken === undefined) throw new UsageError('The login has expired: run payments login')
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

/** Uses the API key from the environment, or else the stored login. */
const openClient = async (env: NodeJS.ProcessEnv, file: string, url: string | undefined): Promise<Payments> => {
  const { PAYMENTS_API_KEY: apiKey, PAYMENTS_URL } = env
  if (apiKey) return new Payments({ baseUrl: url ?? PAYMENTS_URL ?? defaultUrl, apiKey })
  const login = await readLogin(file)
  if (!login) throw new UsageError('Not logged in: run payments login, or set PAYMENTS_API_KEY.')
  if (url !== undefined && url !== login.baseUrl)
    throw new UsageError(`The login is for ${login.baseUrl}: run payments login --url ${url}`)
  return new Payments({ baseUrl: login.baseUrl, accessToken: freshToken(file, login) })
}

export const clientOf = ({ env }: Pick<Terminal, 'env'>, url: string | undefined): Promise<Payments> =>
  openClient(env, loginFile(env), url)
