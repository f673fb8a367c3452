import { createHash, randomBytes, randomUUID } from 'node:crypto'
import formbody from '@fastify/formbody'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { z } from 'zod'
import type { GithubOptions, GoogleOptions } from '../../auth/providers.ts'
import type { App } from '../../http/app-type.ts'
import { escapeHtml, renderPage, sendHtml } from '../../http/page.ts'
import { type Clock, secondsAfter } from '../../lib/clock.ts'
import { field } from '../../rails/fields.ts'

const unlisted = { config: { internal: true, access: 'public' as const }, schema: { hide: true } }

/** A person with an account at every provider that the sandbox simulates. */
type SandboxPerson = { name: string; email: string; verified: boolean }

/** The people on the page. One has an address that was never verified: sign-in must not trust it. */
const people: readonly SandboxPerson[] = [
  { name: 'Amina Otieno', email: 'amina@example.com', verified: true },
  { name: 'Brian Kamau', email: 'brian@example.com', verified: true },
  { name: 'Chao Wanjiru', email: 'chao@example.com', verified: true },
  { name: 'Dalia Njeri', email: 'dalia@example.com', verified: false },
]

/** The same person has the same subject in every run. */
const digestOf = (person: SandboxPerson): Buffer => createHash('sha256').update(person.email.toLowerCase()).digest()

const googleSubjectOf = (person: SandboxPerson): string => `1${digestOf(person).readBigUInt64BE(0).toString().padStart(20, '0')}`
const githubIdOf = (person: SandboxPerson): number => digestOf(person).readUIntBE(0, 5) + 1

/** An authorization request's parameters, and the person that was chosen on the page. */
type Consent = { person: SandboxPerson; challenge: string; nonce: string }

type ProviderAddresses = {
  /** Where browsers and this process reach the provider: the same server by its public name and by its own address. */
  publicUrl: string
  selfUrl: string
  path: string
  redirectUri: string
  clock: Clock
}

const codeSeconds = 60

const TokenRequest = z.object({
  code: z.string(),
  redirect_uri: z.string(),
  code_verifier: z.string().min(43),
  client_id: z.string(),
  client_secret: z.string(),
})

const Choice = z.object({ email: z.email(), name: z.string().max(100).default(''), unverified: z.string().optional() })

type Asked = Readonly<Record<string, string>>

const chooseUrl = (path: string, asked: Asked, { name, email, verified }: SandboxPerson): string =>
  `${path}/choose?${new URLSearchParams({ ...asked, email, name, ...(!verified && { unverified: '1' }) })}`

const otherPersonForm = (path: string, asked: Asked): string => `<form action="${escapeHtml(path)}/choose">
${Object.entries(asked)
  .map(([name, value]) => `<input type="hidden" name="${escapeHtml(name)}" value="${escapeHtml(value)}">`)
  .join('\n')}
<label>Another e-mail <input name="email" type="email" required></label>
<label>Name <input name="name" maxlength="100"></label>
<label><input type="checkbox" name="unverified" value="1"> never verified</label>
<button>Be this person</button>
</form>`

const backTo = (redirectUri: string, answer: Record<string, string>): string => `${redirectUri}?${new URLSearchParams(answer)}`

/** The page on which a provider asks for the person, and the codes that it gives. This one accepts every answer. */
const createAuthorization = (title: string, path: string, { redirectUri, clock }: ProviderAddresses) => {
  const client = { clientId: `sandbox.${title.toLowerCase()}`, clientSecret: randomUUID() }
  /** What a provider's authorization endpoint requires of this service: code, PKCE with S256, and its one redirect URI. */
  const Request = z.object({
    client_id: z.literal(client.clientId),
    redirect_uri: z.literal(redirectUri),
    response_type: z.literal('code'),
    code_challenge: z.string().regex(/^[A-Za-z0-9_-]{43}$/),
    code_challenge_method: z.literal('S256'),
    state: z.string().min(1),
    scope: z.string().min(1),
    nonce: z.string().default(''),
  })
  const waiting = new Map<string, Consent & { until: Date }>()
  const refuse = (error: z.ZodError): string =>
    renderPage({
      title: `${title} (sandbox)`,
      paragraphs: ['The authorization request is not one that a provider accepts:', z.prettifyError(error)],
    })

  const register = (app: App): void => {
    app.get(path, unlisted, async ({ query }, reply) => {
      const request = Request.safeParse(query)
      if (!request.success) return sendHtml(reply, 400, refuse(request.error))
      const links = people.map((person) => ({
        href: chooseUrl(path, request.data, person),
        text: `${person.name} · ${person.email}${person.verified ? '' : ' (never verified)'}`,
      }))
      const cancel = { href: backTo(redirectUri, { error: 'access_denied', state: request.data.state }), text: 'Cancel' }
      const page = renderPage(
        {
          title: `Sign in with ${title} (sandbox)`,
          paragraphs: [`This is not ${title}: it is simulated by this service, on this machine. Choose who you want to be.`],
          links: [...links, cancel],
        },
        otherPersonForm(path, request.data),
      )
      return sendHtml(reply, 200, page)
    })
    app.get(`${path}/choose`, unlisted, async ({ query }, reply) => {
      const request = Request.and(Choice).safeParse(query)
      if (!request.success) return sendHtml(reply, 400, refuse(request.error))
      const { email, name, unverified, code_challenge: challenge, nonce, state } = request.data
      const person = { email, name: name || email, verified: unverified === undefined }
      const code = randomBytes(20).toString('base64url')
      waiting.set(code, { person, challenge, nonce, until: secondsAfter(clock.now(), codeSeconds) })
      return reply.header('cache-control', 'no-store').redirect(backTo(redirectUri, { code, state }), 302)
    })
  }

  /** Codes are valid once, for a short time, and only with the verifier. */
  const redeem = (body: unknown): Consent | 'invalid_request' | 'invalid_client' | 'invalid_grant' => {
    const request = TokenRequest.safeParse(body)
    if (!request.success) return 'invalid_request'
    const { code, redirect_uri, code_verifier, client_id, client_secret } = request.data
    if (client_id !== client.clientId || client_secret !== client.clientSecret) return 'invalid_client'
    const consent = waiting.get(code)
    waiting.delete(code)
    if (!consent || consent.until <= clock.now() || redirect_uri !== redirectUri) return 'invalid_grant'
    return createHash('sha256').update(code_verifier).digest('base64url') === consent.challenge ? consent : 'invalid_grant'
  }
  return { client, register, redeem }
}

const tokenSeconds = 3600

/** Google as OpenID Connect describes it: authorize, token with an RS256 ID token, keys. */
const createSandboxGoogle = (addresses: ProviderAddresses) => {
  const { publicUrl, selfUrl, path, clock } = addresses
  const issuer = publicUrl + path
  const { client, ...authorization } = createAuthorization('Google', `${path}/authorize`, addresses)
  // Created when first needed: an RSA key takes longer than the rest of a start.
  let made: ReturnType<typeof generateKeyPair> | undefined
  const keys = () => (made ??= generateKeyPair('RS256'))
  const kid = randomUUID()

  const idToken = async ({ person, nonce }: Consent): Promise<string> => {
    const iat = Math.floor(clock.now().getTime() / 1000)
    const issued = { iss: issuer, aud: client.clientId, azp: client.clientId, iat, exp: iat + tokenSeconds }
    const { name, email, verified } = person
    const claims = { sub: googleSubjectOf(person), email, email_verified: verified, name, ...(nonce && { nonce }) }
    const { privateKey } = await keys()
    return new SignJWT({ ...issued, ...claims }).setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid }).sign(privateKey)
  }

  const register = (app: App): void => {
    authorization.register(app)
    app.get(`${path}/keys`, unlisted, async (_request, reply) => {
      const { publicKey } = await keys()
      return reply.send({ keys: [{ ...(await exportJWK(publicKey)), kid, use: 'sig', alg: 'RS256' }] })
    })
    app.post(`${path}/token`, unlisted, async (request, reply) => {
      const isCode = field(request.body, 'grant_type') === 'authorization_code'
      const consent = isCode ? authorization.redeem(request.body) : 'invalid_request'
      if (typeof consent === 'string') return reply.code(consent === 'invalid_client' ? 401 : 400).send({ error: consent })
      const token = { access_token: randomUUID(), token_type: 'Bearer', expires_in: tokenSeconds, scope: 'openid email profile' }
      return reply.send({ ...token, id_token: await idToken(consent) })
    })
  }

  const options: GoogleOptions = {
    ...client,
    issuer: 'sandbox:google',
    tokenIssuers: [issuer],
    endpoints: async () => ({
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${selfUrl}${path}/token`,
      jwks_uri: `${selfUrl}${path}/keys`,
    }),
  }
  return { register, options }
}

/** GitHub as its documents describe it: a refused code is answered with 200 and an error, and e-mails have their own endpoint. */
const createSandboxGithub = (addresses: ProviderAddresses) => {
  const { publicUrl, selfUrl, path } = addresses
  const { client, ...authorization } = createAuthorization('GitHub', `${path}/login/oauth/authorize`, addresses)
  const signedIn = new Map<string, SandboxPerson>()

  const asPerson = (answer: (person: SandboxPerson) => object) => async (request: FastifyRequest, reply: FastifyReply) => {
    const person = signedIn.get(/^Bearer (\S+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '')
    return person ? reply.send(answer(person)) : reply.code(401).send({ message: 'Bad credentials' })
  }

  const register = (app: App): void => {
    authorization.register(app)
    app.post(`${path}/login/oauth/access_token`, unlisted, async (request, reply) => {
      const consent = authorization.redeem(request.body)
      if (consent === 'invalid_client') return reply.send({ error: 'incorrect_client_credentials' })
      if (typeof consent === 'string') return reply.send({ error: 'bad_verification_code' })
      const token = `gho_${randomUUID()}`
      signedIn.set(token, consent.person)
      return reply.send({ access_token: token, token_type: 'bearer', scope: 'read:user,user:email' })
    })
    const userOf = (person: SandboxPerson) => {
      const login = person.email.split('@')[0]?.replace(/[^A-Za-z0-9]+/g, '-') ?? 'somebody'
      return { id: githubIdOf(person), login, name: person.name, email: null }
    }
    app.get(`${path}/api/user`, unlisted, asPerson(userOf))
    const emailsOf = (person: SandboxPerson) => [
      { email: `${githubIdOf(person)}@users.noreply.example.com`, primary: false, verified: true, visibility: null },
      { email: person.email, primary: true, verified: person.verified, visibility: 'private' },
    ]
    app.get(`${path}/api/user/emails`, unlisted, asPerson(emailsOf))
  }

  const options: GithubOptions = {
    ...client,
    issuer: 'sandbox:github',
    authorizeUrl: `${publicUrl}${path}/login/oauth/authorize`,
    tokenUrl: `${selfUrl}${path}/login/oauth/access_token`,
    apiUrl: `${selfUrl}${path}/api`,
  }
  return { register, options }
}

/** The prefix of the issuers of simulated identities; no real issuer has it. */
export const sandboxIssuerPrefix = 'sandbox:'

/** Simulated on the service's own public server, because a browser must reach them. The clock is the machine's, which checks ID tokens. */
export const createIdentitySandbox = (place: { selfUrl: string; publicUrl: string; clock: Clock }) => {
  const { publicUrl } = place
  const seat = (provider: 'google' | 'github') => ({
    ...place,
    path: `/sandbox/identity/${provider}`,
    redirectUri: `${publicUrl}/v1/auth/${provider}/callback`,
  })
  const google = createSandboxGoogle(seat('google'))
  const github = createSandboxGithub(seat('github'))
  return {
    google: google.options,
    github: github.options,
    register: async (app: App): Promise<void> => {
      await app.register(async (scope) => {
        await scope.register(formbody)
        google.register(scope as App)
        github.register(scope as App)
      })
    },
  }
}
