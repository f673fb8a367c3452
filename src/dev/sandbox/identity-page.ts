import { createHash, randomBytes } from 'node:crypto'
import { z } from 'zod'
import type { App } from '../../http/app-type.ts'
import { escapeHtml, renderPage, sendHtml } from '../../http/page.ts'
import { type Clock, secondsAfter } from '../../lib/clock.ts'

/** A person with an account at every provider that the sandbox simulates. */
export type SandboxPerson = { name: string; email: string; verified: boolean }

/** The people on the page. One has an address that was never verified: sign-in must not trust it. */
const people: readonly SandboxPerson[] = [
  { name: 'Amina Otieno', email: 'amina@example.com', verified: true },
  { name: 'Brian Kamau', email: 'brian@example.com', verified: true },
  { name: 'Chao Wanjiru', email: 'chao@example.com', verified: true },
  { name: 'Dalia Njeri', email: 'dalia@example.com', verified: false },
]

/** The same person has the same subject in every run. */
const digestOf = (person: SandboxPerson): Buffer => createHash('sha256').update(person.email.toLowerCase()).digest()

export const googleSubjectOf = (person: SandboxPerson): string =>
  `1${digestOf(person).readBigUInt64BE(0).toString().padStart(20, '0')}`
export const githubIdOf = (person: SandboxPerson): number => digestOf(person).readUIntBE(0, 5) + 1
export const githubLoginOf = (person: SandboxPerson): string =>
  person.email.split('@')[0]?.replace(/[^A-Za-z0-9]+/g, '-') ?? 'somebody'

/** An authorization request's parameters, and the person that was chosen on the page. */
export type Consent = { person: SandboxPerson; challenge: string; nonce: string | null }

/** Who may ask, and what a provider's authorization endpoint is called. */
type Authorization = { title: string; path: string; clientId: string; clientSecret: string; redirectUri: string; clock: Clock }

const codeSeconds = 60

/** What a provider's authorization endpoint requires of this service: code, PKCE with S256, and its one redirect URI. */
const authorizationRequest = (client: Authorization) =>
  z.object({
    client_id: z.literal(client.clientId),
    redirect_uri: z.literal(client.redirectUri),
    response_type: z.literal('code'),
    code_challenge: z.string().regex(/^[A-Za-z0-9_-]{43}$/),
    code_challenge_method: z.literal('S256'),
    state: z.string().min(1),
    scope: z.string().min(1),
    nonce: z.string().optional(),
  })

const TokenRequest = z.object({
  code: z.string(),
  redirect_uri: z.string(),
  code_verifier: z.string().min(43),
  client_id: z.string(),
  client_secret: z.string(),
})

const Choice = z.object({ email: z.email(), name: z.string().max(100).default(''), unverified: z.string().optional() })

type Query = Record<string, unknown>
const asText = (query: Query): Record<string, string> =>
  Object.fromEntries(Object.entries(query).filter((entry): entry is [string, string] => typeof entry[1] === 'string'))

const chooseUrl = (path: string, query: Query, person: SandboxPerson): string => {
  const { name, email, verified } = person
  return `${path}/choose?${new URLSearchParams({ ...asText(query), email, name, ...(!verified && { unverified: '1' }) })}`
}

const otherPersonForm = (path: string, query: Query): string => `<form action="${escapeHtml(path)}/choose">
${Object.entries(asText(query))
  .map(([name, value]) => `<input type="hidden" name="${escapeHtml(name)}" value="${escapeHtml(value)}">`)
  .join('\n')}
<label>Another e-mail <input name="email" type="email" required></label>
<label>Name <input name="name" maxlength="100"></label>
<label><input type="checkbox" name="unverified" value="1"> never verified</label>
<button>Be this person</button>
</form>`

const backTo = (redirectUri: string, answer: Record<string, string>): string => `${redirectUri}?${new URLSearchParams(answer)}`

/** The page on which a provider asks for the person, and the codes that it gives. This one accepts every answer. */
export const createAuthorization = (authorization: Authorization) => {
  const { title, path, clientId, clientSecret, redirectUri, clock } = authorization
  const Request = authorizationRequest(authorization)
  const waiting = new Map<string, Consent & { until: Date }>()
  const config = { internal: true, access: 'public' as const }
  const refuse = (error: z.ZodError): string =>
    renderPage({
      title: `${title} (sandbox)`,
      paragraphs: ['The authorization request is not one that a provider accepts:', z.prettifyError(error)],
    })

  const register = (app: App): void => {
    app.get<{ Querystring: Query }>(path, { config, schema: { hide: true } }, async ({ query }, reply) => {
      const request = Request.safeParse(query)
      if (!request.success) return sendHtml(reply, 400, refuse(request.error))
      const links = people.map((person) => ({
        href: chooseUrl(path, query, person),
        text: `${person.name} · ${person.email}${person.verified ? '' : ' (never verified)'}`,
      }))
      const cancel = { href: backTo(redirectUri, { error: 'access_denied', state: request.data.state }), text: 'Cancel' }
      const page = renderPage(
        {
          title: `Sign in with ${title} (sandbox)`,
          paragraphs: [`This is not ${title}: it is simulated by this service, on this machine. Choose who you want to be.`],
          links: [...links, cancel],
        },
        otherPersonForm(path, query),
      )
      return sendHtml(reply, 200, page)
    })
    app.get<{ Querystring: Query }>(`${path}/choose`, { config, schema: { hide: true } }, async ({ query }, reply) => {
      const request = Request.and(Choice).safeParse(query)
      if (!request.success) return sendHtml(reply, 400, refuse(request.error))
      const { email, name, unverified, code_challenge: challenge, nonce, state } = request.data
      const person = { email, name: name || email, verified: unverified === undefined }
      const code = randomBytes(20).toString('base64url')
      waiting.set(code, { person, challenge, nonce: nonce ?? null, until: secondsAfter(clock.now(), codeSeconds) })
      return reply.header('cache-control', 'no-store').redirect(backTo(redirectUri, { code, state }), 302)
    })
  }

  /** Codes are valid once, for a short time, and only with the verifier. */
  const redeem = (body: unknown): Consent | 'invalid_request' | 'invalid_client' | 'invalid_grant' => {
    const request = TokenRequest.safeParse(body)
    if (!request.success) return 'invalid_request'
    const { code, redirect_uri, code_verifier, client_id, client_secret } = request.data
    if (client_id !== clientId || client_secret !== clientSecret) return 'invalid_client'
    const consent = waiting.get(code)
    waiting.delete(code)
    if (!consent || consent.until <= clock.now() || redirect_uri !== redirectUri) return 'invalid_grant'
    return createHash('sha256').update(code_verifier).digest('base64url') === consent.challenge ? consent : 'invalid_grant'
  }
  return { register, redeem }
}
