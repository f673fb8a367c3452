import { z } from 'zod'
import {
  authorizationUrl,
  type IdentityProvider,
  notOfThisFlow,
  providerFailed,
  readEmail,
  readName,
  requestJson,
  requestProvider,
} from './provider.ts'

export type GithubOptions = {
  clientId: string
  clientSecret: string
  /** The issuer under which its identities are stored. */
  issuer: string
  authorizeUrl: string
  tokenUrl: string
  apiUrl: string
}

export const githubUrl = 'https://github.com'
export const githubApiUrl = 'https://api.github.com'

const Token = z.union([z.object({ access_token: z.string().min(1) }), z.object({ error: z.string() })])
const User = z.object({ id: z.number().int().positive(), login: z.string(), name: z.unknown().optional() })
const Emails = z.array(z.object({ email: z.string(), primary: z.boolean(), verified: z.boolean() }))

/** GitHub's error for a code that is unknown, used, expired or made for another verifier. */
const badCodes = ['bad_verification_code', 'incorrect_code_verifier', 'invalid_grant']

export const createGithub = (options: GithubOptions): IdentityProvider => {
  const { clientId, clientSecret, issuer } = options
  const headersOf = (token: string) => ({
    accept: 'application/vnd.github+json',
    authorization: `Bearer ${token}`,
    'user-agent': 'payments-service',
    'x-github-api-version': '2022-11-28',
  })

  const exchange = async (code: string, verifier: string, redirectUri: string): Promise<string> => {
    const body = new URLSearchParams({
      client_id: clientId,
      client_secret: clientSecret,
      code,
      redirect_uri: redirectUri,
      code_verifier: verifier,
    })
    const init = { method: 'POST', headers: { accept: 'application/json', 'user-agent': 'payments-service' }, body }
    // GitHub answers a refused code with 200 and an error in the body.
    const answer = await requestJson('github', Token, options.tokenUrl, init)
    if ('access_token' in answer) return answer.access_token
    if (badCodes.includes(answer.error)) throw notOfThisFlow('github', 'the code is not accepted')
    throw providerFailed('github', 'it refuses this service')
  }

  /** The primary address, if GitHub has verified it; none where the token may not read it. */
  const primaryEmail = async (headers: Record<string, string>) => {
    const { status, body } = await requestProvider('github', `${options.apiUrl}/user/emails`, { headers })
    if (status === 403 || status === 404) return undefined
    const emails = Emails.safeParse(body)
    if (status !== 200 || !emails.success) throw providerFailed('github', 'its list of e-mails cannot be read')
    return emails.data.find((email) => email.primary)
  }

  return {
    issuer,
    authorizationUrl: async (flow, { redirectUri, chooseAccount }) =>
      authorizationUrl(options.authorizeUrl, flow, {
        client_id: clientId,
        redirect_uri: redirectUri,
        scope: 'read:user user:email',
        ...(chooseAccount && { prompt: 'select_account' }),
      }),
    redeem: async ({ verifier }, { code, redirectUri }) => {
      const headers = headersOf(await exchange(code, verifier, redirectUri))
      const user = await requestJson('github', User, `${options.apiUrl}/user`, { headers })
      const primary = await primaryEmail(headers)
      const email = readEmail(primary?.email)
      return {
        subject: String(user.id),
        email,
        emailVerified: email !== null && primary?.verified === true,
        displayName: readName(user.name) ?? readName(user.login),
      }
    },
  }
}
