import { createGithub, createGoogle, githubAt, googleAt, type IdentityProviders } from './auth/providers.ts'
import type { Config } from './config.ts'
import type { Db } from './db/client.ts'
import { createIdentitySandbox, sandboxIssuerPrefix } from './dev/sandbox/identity.ts'
import { registerMailbox } from './dev/sandbox/mailbox.ts'
import type { App } from './http/app-type.ts'
import { systemClock } from './lib/clock.ts'
import { StartupError } from './lib/errors.ts'
import { localUrl } from './lib/loopback.ts'

// Apart from app.ts, only this file names the identity providers and the simulated providers and mail server.

const clientOf = (clientId: string | undefined, clientSecret: string | undefined) =>
  clientId && clientSecret ? { clientId, clientSecret } : undefined

export type IdentityParts = ReturnType<typeof createIdentityParts>

export const createIdentityParts = (config: Config) => {
  const googleClient = clientOf(config.GOOGLE_CLIENT_ID, config.GOOGLE_CLIENT_SECRET)
  const githubClient = clientOf(config.GITHUB_CLIENT_ID, config.GITHUB_CLIENT_SECRET)
  const simulated = config.maySimulateIdentities && !(googleClient && githubClient)
  const sandbox = simulated
    ? createIdentitySandbox({ publicUrl: config.publicUrl, selfUrl: localUrl(config.HOST, config.PORT), clock: systemClock })
    : null
  const google = googleClient ? { ...googleClient, ...googleAt(config.GOOGLE_ISSUER) } : sandbox?.google
  const github = githubClient ? { ...githubClient, ...githubAt(config.GITHUB_URL) } : sandbox?.github
  const providers: IdentityProviders = {
    google: google ? createGoogle(google) : null,
    github: github ? createGithub(github) : null,
  }
  return {
    providers,
    registerSandbox: async (http: App, readMails: Parameters<typeof registerMailbox>[1]): Promise<void> => {
      await sandbox?.register(http)
      if (config.mailDelivery === 'sandbox') registerMailbox(http, readMails)
    },
    simulated,
  }
}

/** Refuses to start in production with simulated identities, which let anyone sign in as any account. */
export const refuseSimulatedIdentities = async (config: Config, db: Db): Promise<void> => {
  if (config.NODE_ENV !== 'production') return
  const rows = await db.query('select from identities where starts_with(issuer, $1) limit 1', [sandboxIssuerPrefix])
  if (rows.length === 0) return
  throw new StartupError('This database has sign-ins of the sandbox identity provider: use a separate database for production.')
}
