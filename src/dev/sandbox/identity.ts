import formbody from '@fastify/formbody'
import type { GithubOptions } from '../../auth/providers/github.ts'
import type { GoogleOptions } from '../../auth/providers/google.ts'
import type { App } from '../../http/app-type.ts'
import type { Clock } from '../../lib/clock.ts'
import { createSandboxGithub } from './identity-github.ts'
import { createSandboxGoogle } from './identity-google.ts'

export const sandboxIdentityPath = '/sandbox/identity'
/** The prefix of the issuers of simulated identities; no real issuer has it. */
export const sandboxIssuerPrefix = 'sandbox:'

export type IdentitySandbox = { google: GoogleOptions; github: GithubOptions; register: (app: App) => Promise<void> }

/**
 * Google and GitHub, simulated, so that a person who has just started the service can try both buttons. They run on the service's own
 * public server, because a browser must reach them. The clock is the real one: the ID token's times are checked against the machine's.
 */
export const createIdentitySandbox = (options: { publicUrl: string; selfUrl: string; clock: Clock }): IdentitySandbox => {
  const seat = (provider: 'google' | 'github') => ({
    browserUrl: options.publicUrl,
    selfUrl: options.selfUrl,
    path: `${sandboxIdentityPath}/${provider}`,
    redirectUri: `${options.publicUrl}/v1/auth/${provider}/callback`,
    clock: options.clock,
  })
  const google = createSandboxGoogle(seat('google'))
  const github = createSandboxGithub(seat('github'))
  return {
    google: google.options,
    github: github.options,
    register: async (app) => {
      await app.register(async (scope) => {
        await scope.register(formbody)
        google.register(scope as App)
        github.register(scope as App)
      })
    },
  }
}
