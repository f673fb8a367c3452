import { Payments } from '../client.ts'
import { discover, refreshTokens } from '../oauth.ts'
import { UsageError } from './errors.ts'
import { type Login, loginFile, readLogin, withLock, writeLogin } from './store.ts'
import type { Terminal } from './terminal.ts'

export const defaultUrl = 'http://localhost:3000'
/** Minimum remaining token validity for a new call. */
const marginMs = 60_000

const isFresh = ({ tokens }: Login): boolean => tokens.expiresAt - Date.now() >= marginMs

/** Replaces the stored tokens unless another command has done so: a refresh token that is used again ends the access of all. */
const refreshStored = async (file: string, { baseUrl }: Login): Promise<Login> => {
  const stored = await readLogin(file)
  if (stored?.baseUrl !== baseUrl)
    throw new UsageError(`The login for ${baseUrl} was removed: run payments login --url ${baseUrl}`)
  if (isFresh(stored)) return stored
  const { clientId, tokens } = stored
  if (tokens.refreshToken === undefined) throw new UsageError('The login has expired: run payments login')
  const metadata = await discover(fetch, baseUrl)
  const login = { baseUrl, clientId, tokens: await refreshTokens(fetch, metadata, clientId, tokens.refreshToken) }
  await writeLogin(file, login)
  return login
}

/** Returns the login's access token, refreshed shortly before expiry by one command at a time. */
const freshToken = (file: string, first: Login): (() => Promise<string>) => {
  let login = first
  let refreshing: Promise<void> | undefined
  const refresh = async () => {
    login = await withLock(file, () => refreshStored(file, login))
  }
  return async () => {
    if (!isFresh(login)) {
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
