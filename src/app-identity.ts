import { createGithub, type GithubOptions, githubApiUrl, githubUrl } from './auth/providers/github.ts'
import {
  createGoogle,
  discover,
  type GoogleOptions,
  googleEndpoints,
  googleIssuer,
  googleTokenIssuers,
} from './auth/providers/google.ts'
import type { IdentityProviders } from './auth/providers/provider.ts'
import { type Config, isLoopbackUrl } from './config.ts'
import type { Db } from './db/client.ts'
import type { Clock } from './lib/clock.ts'
import { StartupError } from './lib/startup-error.ts'
import { type IdentitySandbox, sandboxIssuerPrefix } from './sandbox/identity.ts'

// With app.ts the only place that says which identity providers there are.

const realGoogle = (config: Config, clientId: string, clientSecret: string): GoogleOptions => {
  const standIn = config.GOOGLE_ISSUER
  return {
    clientId,
    clientSecret,
    issuer: standIn ?? googleIssuer,
    tokenIssuers: standIn === undefined ? googleTokenIssuers : [standIn],
    endpoints: standIn === undefined ? async () => googleEndpoints : discover(standIn),
  }
}

const realGithub = (config: Config, clientId: string, clientSecret: string): GithubOptions => {
  const url = config.GITHUB_URL ?? githubUrl
  return {
    clientId,
    clientSecret,
    issuer: url,
    authorizeUrl: `${url}/login/oauth/authorize`,
    tokenUrl: `${url}/login/oauth/access_token`,
    // GitHub Enterprise Server has its API below its own address.
    apiUrl: config.GITHUB_API_URL ?? (config.GITHUB_URL === undefined ? githubApiUrl : `${url}/api/v3`),
  }
}

/** The sandbox plays a provider only where nobody could mistake it for a real one: on this machine, outside production. */
export const mayPlayProviders = (config: Config): boolean =>
  config.NODE_ENV !== 'production' && isLoopbackUrl(config.publicUrl) && !(config.GOOGLE_CLIENT_ID && config.GITHUB_CLIENT_ID)

export const createIdentityProviders = (config: Config, clock: Clock, sandbox: IdentitySandbox | null): IdentityProviders => {
  const { GOOGLE_CLIENT_ID: googleId, GOOGLE_CLIENT_SECRET: googleSecret } = config
  const { GITHUB_CLIENT_ID: githubId, GITHUB_CLIENT_SECRET: githubSecret } = config
  const google = googleId && googleSecret ? realGoogle(config, googleId, googleSecret) : sandbox?.google
  const github = githubId && githubSecret ? realGithub(config, githubId, githubSecret) : sandbox?.github
  return { google: google ? createGoogle(google, clock) : null, github: github ? createGithub(github) : null }
}

/** In production a played identity would let anybody be whom they like. */
export const refusePlayedIdentities = async (config: Config, db: Db): Promise<void> => {
  if (config.NODE_ENV !== 'production') return
  const found = await db.query('select from identities where starts_with(issuer, $1) limit 1', [sandboxIssuerPrefix])
  if (found.length === 0) return
  throw new StartupError('This database has sign-ins of the sandbox identity provider: production needs a database of its own.')
}
