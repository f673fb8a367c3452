import { Payments } from '../client.ts'
import { discover, refreshTokens } from '../oauth.ts'
import { type Login, loginFile, readLogin, writeLogin } from './store.ts'
import type { Terminal } from './terminal.ts'

export const defaultUrl = 'http://localhost:3000'
/** Valid for long enough for a call that begins now. */
const marginMs = 60_000

/** A person's mistake, in one sentence. */
export class UsageError extends Error {}

/** The same command was run before: nothing new was done by this one. */
export class AlreadyDoneError extends Error {}

/**
 * The login's access token, refreshed and stored when it is about to expire. One refresh at a time, because a refresh token can be used
 * once.
 */
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

/** With an API key from the environment, else with the stored login. */
const openClient = async (env: NodeJS.ProcessEnv, file: string, url: string | undefined): Promise<Payments> => {
  const { PAYMENTS_API_KEY: apiKey, PAYMENTS_URL } = env
  if (apiKey) return new Payments({ baseUrl: url ?? PAYMENTS_URL ?? defaultUrl, apiKey })
  const login = await readLogin(file)
  if (!login) throw new UsageError('Not logged in: run payments login, or set PAYMENTS_API_KEY.')
  if (url !== undefined && url !== login.baseUrl)
    throw new UsageError(`The login is for ${login.baseUrl}: payments login --url ${url}`)
  return new Payments({ baseUrl: login.baseUrl, accessToken: freshToken(file, login) })
}

export const clientOf = ({ env }: Pick<Terminal, 'env'>, url: string | undefined): Promise<Payments> =>
  openClient(env, loginFile(env), url)
