import { Payments } from '../client.ts'
import { discover, isRefusedAs, refreshTokens } from '../oauth.ts'
import { UsageError } from './errors.ts'
import { type Login, loginFile, readLogin, withLock, writeLogin } from './store.ts'
import type { Terminal } from './terminal.ts'

const defaultUrl = 'http://localhost:3000'
/** Minimum remaining token validity for a new call. */
const minValidityMs = 60_000

/** One spelling for each address, without a slash at the end. */
const addressOf = (text: string): string => {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    throw new UsageError(`"${text}" is not the address of a service. Give one such as https://payments.example.`)
  return new URL(text).href.replace(/\/+$/, '')
}

/** The service that `--url` names, or else PAYMENTS_URL. */
const namedUrl = ({ env }: Pick<Terminal, 'env'>, url: string | undefined): string | undefined => {
  const named = url ?? env.PAYMENTS_URL
  return named === undefined ? undefined : addressOf(named)
}

export const urlForLogin = (terminal: Pick<Terminal, 'env'>, url: string | undefined, before: Login | undefined): string =>
  namedUrl(terminal, url) ?? before?.baseUrl ?? defaultUrl

/** The stored login. A command never acts at another service than the one that its caller names. */
export const loginFor = async (terminal: Pick<Terminal, 'env'>, url: string | undefined): Promise<Login | undefined> => {
  const login = await readLogin(loginFile(terminal.env))
  const named = namedUrl(terminal, url)
  if (login && named !== undefined && named !== addressOf(login.baseUrl))
    throw new UsageError(`The login is for ${login.baseUrl}, not for ${named}: run payments login --url ${named}`)
  return login
}

const isFresh = ({ tokens }: Login): boolean => tokens.expiresAt - Date.now() >= minValidityMs

const loginEnded = (baseUrl: string): UsageError =>
  new UsageError(`The login has expired or was revoked: run payments login --url ${baseUrl}`)

/** Refreshes the stored tokens, unless another command has just done so. Using a refresh token twice revokes the login. */
const refreshStored = async (file: string, { baseUrl }: Login): Promise<Login> => {
  const stored = await readLogin(file)
  if (stored?.baseUrl !== baseUrl)
    throw new UsageError(`The login for ${baseUrl} was removed: run payments login --url ${baseUrl}`)
  if (isFresh(stored)) return stored
  const { clientId, tokens } = stored
  if (tokens.refreshToken === undefined) throw loginEnded(baseUrl)
  const refreshed = await refreshTokens(await discover(baseUrl), clientId, tokens.refreshToken).catch((error: unknown) => {
    throw isRefusedAs(error, 'invalid_grant', 'invalid_client') ? loginEnded(baseUrl) : error
  })
  const login = { baseUrl, clientId, tokens: refreshed }
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
export const clientOf = async (terminal: Pick<Terminal, 'env'>, url: string | undefined): Promise<Payments> => {
  const { PAYMENTS_API_KEY: apiKey } = terminal.env
  if (apiKey === '') throw new UsageError('PAYMENTS_API_KEY is empty. Set it to a key, or unset it to use the login.')
  if (apiKey !== undefined) return new Payments({ baseUrl: namedUrl(terminal, url) ?? defaultUrl, apiKey })
  const login = await loginFor(terminal, url)
  if (!login) throw new UsageError('Not logged in: run payments login, or set PAYMENTS_API_KEY.')
  return new Payments({ baseUrl: login.baseUrl, accessToken: freshToken(loginFile(terminal.env), login) })
}
