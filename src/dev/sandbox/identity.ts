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

const undocumentedRoute = { config: { internal: true, access: 'public' as const }, schema: { hide: true } }

/** A person with an account at every simulated provider, as in the page's links. */
type SandboxPerson = { name: string; email: string; unverified?: string }

/** The people on the page. One person's e-mail address is unverified, so sign-in must not trust it. */
const people: readonly SandboxPerson[] = [
  { name: 'Amina Otieno', email: 'amina@example.com' },
  { name: 'Brian Kamau', email: 'brian@example.com' },
  { name: 'Chao Wanjiru', email: 'chao@example.com' },
  { name: 'Dalia Njeri', email: 'dalia@example.com', unverified: '1' },
]

/** Derived from the e-mail address, so that a person has the same subject in every run. */
const digestOf = ({ email }: SandboxPerson): Buffer => createHash('sha256').update(email.toLowerCase()).digest()

const googleSubjectOf = (person: SandboxPerson): string => `1${digestOf(person).readBigUInt64BE(0).toString().padStart(20, '0')}`
const githubIdOf = (person: SandboxPerson): number => digestOf(person).readUIntBE(0, 5) + 1

/** The URLs of a provider: `publicUrl` for browsers, `selfUrl` for this process. */
type ProviderPlace = { publicUrl: string; selfUrl: string; clock: Clock }

const codeSeconds = 60

const TokenRequest = z.object({
  code: z.string(),
  redirect_uri: z.string(),
  code_verifier: z.string().min(43),
  client_id: z.string(),
  client_secret: z.string(),
})

const hiddenInput = ([name, value]: [string, string]): string =>
  `<input type="hidden" name="${escapeHtml(name)}" value="${escapeHtml(value)}">`

const otherPersonForm = (path: string, asked: Record<string, string>): string => `<form action="${escapeHtml(path)}/choose">
${Object.entries(asked).map(hiddenInput).join('\n')}
<label>Another email <input name="email" type="email" required></label>
<label>Name <input name="name" maxlength="100"></label>
<label><input type="checkbox" name="unverified" value="1"> never verified</label>
<button>Sign in as this person</button>
</form>`

/** A provider's page for choosing a person, and its codes. The page needs no password. */
const createAuthorization = (title: string, authorizePath: string, { publicUrl, clock }: ProviderPlace) => {
  const name = title.toLowerCase()
  const base = `/sandbox/identity/${name}`
  const path = base + authorizePath
  const redirectUri = `${publicUrl}/v1/auth/${name}/callback`
  const client = { clientId: `sandbox.${name}`, clientSecret: randomUUID() }
  /** The requirements of a provider for this client: response type code, PKCE with S256, and the registered redirect URI. */
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
  const Choice = Request.extend({
    email: z.email(),
    name: z.string().max(100).default(''),
    unverified: z.string().exactOptional(),
  })
  const issuedCodes = new Map<string, z.output<typeof Choice> & { until: Date }>()
  const back = (answer: Record<string, string>): string => `${redirectUri}?${new URLSearchParams(answer)}`
  const refuse = (reply: FastifyReply, error: z.ZodError): FastifyReply => {
    const paragraphs = ['A provider would reject this authorization request:', z.prettifyError(error)]
    return sendHtml(reply, 400, renderPage({ title: `${title} (sandbox)`, paragraphs }))
  }

  const register = (app: App): void => {
    app.get(path, undocumentedRoute, async ({ query }, reply) => {
      const { data: asked, error } = Request.safeParse(query)
      if (error) return refuse(reply, error)
      const links = people.map((person) => ({
        href: `${path}/choose?${new URLSearchParams({ ...asked, ...person })}`,
        text: `${person.name} · ${person.email}${person.unverified ? ' (never verified)' : ''}`,
      }))
      const page = {
        title: `Sign in with ${title} (sandbox)`,
        paragraphs: [`This is not ${title}: this service simulates it on this machine. Choose a person to sign in as.`],
        links: [...links, { href: back({ error: 'access_denied', state: asked.state }), text: 'Cancel' }],
      }
      return sendHtml(reply, 200, renderPage(page, otherPersonForm(path, asked)))
    })
    app.get(`${path}/choose`, undocumentedRoute, async ({ query }, reply) => {
      const { data: choice, error } = Choice.safeParse(query)
      if (error) return refuse(reply, error)
      const code = randomBytes(20).toString('base64url')
      issuedCodes.set(code, { ...choice, name: choice.name || choice.email, until: secondsAfter(clock.now(), codeSeconds) })
      return reply.header('cache-control', 'no-store').redirect(back({ code, state: choice.state }), 302)
    })
  }

  /** A code is valid once, for a short time, and only with its verifier. */
  const redeem = (body: unknown) => {
    const request = TokenRequest.safeParse(body)
    if (!request.success) return 'invalid_request'
    const { code, redirect_uri, code_verifier, client_id, client_secret } = request.data
    if (client_id !== client.clientId || client_secret !== client.clientSecret) return 'invalid_client'
    const chosen = issuedCodes.get(code)
    issuedCodes.delete(code)
    if (!chosen || chosen.until <= clock.now() || redirect_uri !== redirectUri) return 'invalid_grant'
    const isProven = createHash('sha256').update(code_verifier).digest('base64url') === chosen.code_challenge
    return isProven ? chosen : 'invalid_grant'
  }
  return { base, path, client, register, redeem }
}

const tokenSeconds = 3600

/** Simulates Google with OpenID Connect: authorization, token with an RS256 ID token, and keys. */
const createSandboxGoogle = (place: ProviderPlace) => {
  const { base, path, client, ...authorization } = createAuthorization('Google', '/authorize', place)
  const issuer = place.publicUrl + base
  // Created at first use, because generating an RSA key takes longer than the rest of the startup.
  let made: ReturnType<typeof generateKeyPair> | undefined
  const keys = () => (made ??= generateKeyPair('RS256'))
  const kid = randomUUID()

  const idToken = async (person: SandboxPerson, nonce: string): Promise<string> => {
    const { name, email, unverified } = person
    const iat = Math.floor(place.clock.now().getTime() / 1000)
    const issued = { iss: issuer, aud: client.clientId, azp: client.clientId, iat, exp: iat + tokenSeconds }
    const claims = { sub: googleSubjectOf(person), email, email_verified: unverified === undefined, name }
    const { privateKey } = await keys()
    const token = new SignJWT({ ...issued, ...claims, ...(nonce && { nonce }) })
    return token.setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid }).sign(privateKey)
  }

  const register = (app: App): void => {
    authorization.register(app)
    app.get(`${base}/keys`, undocumentedRoute, async (_request, reply) => {
      const { publicKey } = await keys()
      return reply.send({ keys: [{ ...(await exportJWK(publicKey)), kid, use: 'sig', alg: 'RS256' }] })
    })
    app.post(`${base}/token`, undocumentedRoute, async ({ body }, reply) => {
      const isCode = field(body, 'grant_type') === 'authorization_code'
      const chosen = isCode ? authorization.redeem(body) : 'invalid_request'
      if (typeof chosen === 'string') return reply.code(chosen === 'invalid_client' ? 401 : 400).send({ error: chosen })
      const token = { access_token: randomUUID(), token_type: 'Bearer', expires_in: tokenSeconds, scope: 'openid email profile' }
      return reply.send({ ...token, id_token: await idToken(chosen, chosen.nonce) })
    })
  }

  const options: GoogleOptions = {
    ...client,
    issuer: 'sandbox:google',
    tokenIssuers: [issuer],
    reauthenticates: false,
    endpoints: async () => ({
      authorization_endpoint: place.publicUrl + path,
      token_endpoint: `${place.selfUrl}${base}/token`,
      jwks_uri: `${place.selfUrl}${base}/keys`,
    }),
  }
  return { register, options }
}

/** Simulates GitHub as documented: a rejected code gets status 200 with an error, and e-mails have a separate endpoint. */
const createSandboxGithub = (place: ProviderPlace) => {
  const { base, path, client, ...authorization } = createAuthorization('GitHub', '/login/oauth/authorize', place)
  const signedIn = new Map<string, SandboxPerson>()

  const asPerson = (answer: (person: SandboxPerson) => object) => async (request: FastifyRequest, reply: FastifyReply) => {
    const person = signedIn.get(/^Bearer (\S+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '')
    return person ? reply.send(answer(person)) : reply.code(401).send({ message: 'Bad credentials' })
  }
  const userOf = (person: SandboxPerson) => {
    const login = person.email.split('@')[0]?.replace(/[^A-Za-z0-9]+/g, '-') ?? 'somebody'
    return { id: githubIdOf(person), login, name: person.name, email: null }
  }
  const emailsOf = (person: SandboxPerson) => [
    { email: `${githubIdOf(person)}@users.noreply.example.com`, primary: false, verified: true, visibility: null },
    { email: person.email, primary: true, verified: person.unverified === undefined, visibility: 'private' },
  ]

  const register = (app: App): void => {
    authorization.register(app)
    app.post(`${base}/login/oauth/access_token`, undocumentedRoute, async ({ body }, reply) => {
      const chosen = authorization.redeem(body)
      if (chosen === 'invalid_client') return reply.send({ error: 'incorrect_client_credentials' })
      if (typeof chosen === 'string') return reply.send({ error: 'bad_verification_code' })
      const token = `gho_${randomUUID()}`
      signedIn.set(token, chosen)
      return reply.send({ access_token: token, token_type: 'bearer', scope: 'read:user,user:email' })
    })
    app.get(`${base}/api/user`, undocumentedRoute, asPerson(userOf))
    app.get(`${base}/api/user/emails`, undocumentedRoute, asPerson(emailsOf))
  }

  const options: GithubOptions = {
    ...client,
    issuer: 'sandbox:github',
    authorizeUrl: place.publicUrl + path,
    tokenUrl: `${place.selfUrl}${base}/login/oauth/access_token`,
    apiUrl: `${place.selfUrl}${base}/api`,
  }
  return { register, options }
}

/** Prefix of the issuers of simulated identities. No real issuer has it. */
export const sandboxIssuerPrefix = 'sandbox:'

/** Runs on the service's public server, which browsers can reach. Uses the machine's clock, as does the check of ID tokens. */
export const createIdentitySandbox = (place: ProviderPlace) => {
  const google = createSandboxGoogle(place)
  const github = createSandboxGithub(place)
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
