import { randomUUID } from 'node:crypto'
import formbody from '@fastify/formbody'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import type { GithubOptions, GoogleOptions } from '../../auth/providers.ts'
import type { App } from '../../http/app-type.ts'
import type { Clock } from '../../lib/clock.ts'
import { field } from '../../rails/fields.ts'
import {
  type Consent,
  createAuthorization,
  githubIdOf,
  githubLoginOf,
  googleSubjectOf,
  type SandboxPerson,
} from './identity-page.ts'

type ProviderAddresses = {
  /** Where browsers and this process reach the provider: the same server by its public name and by its own address. */
  browserUrl: string
  selfUrl: string
  path: string
  redirectUri: string
  clock: Clock
}

const tokenSeconds = 3600
const unlisted = { config: { internal: true, access: 'public' as const }, schema: { hide: true } }

/** Google as OpenID Connect describes it: discovery, authorize, token with an RS256 ID token, keys. */
const createSandboxGoogle = ({ browserUrl, selfUrl, path, redirectUri, clock }: ProviderAddresses) => {
  const issuer = browserUrl + path
  const client = { clientId: 'sandbox.google', clientSecret: randomUUID(), redirectUri }
  const authorization = createAuthorization({ title: 'Google', path: `${path}/authorize`, clock, ...client })
  // Created when first needed: an RSA key takes longer than the rest of a start.
  let made: ReturnType<typeof generateKeyPair> | undefined
  const keys = () => {
    made ??= generateKeyPair('RS256')
    return made
  }
  const kid = randomUUID()

  const idToken = async ({ person, nonce }: Consent): Promise<string> => {
    const now = Math.floor(clock.now().getTime() / 1000)
    const { name, email, verified } = person
    return new SignJWT({ azp: client.clientId, email, email_verified: verified, name, ...(nonce !== null && { nonce }) })
      .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid })
      .setIssuer(issuer)
      .setAudience(client.clientId)
      .setSubject(googleSubjectOf(person))
      .setIssuedAt(now)
      .setExpirationTime(now + tokenSeconds)
      .sign((await keys()).privateKey)
  }

  const register = (app: App): void => {
    authorization.register(app)
    app.get(`${path}/.well-known/openid-configuration`, unlisted, async (_request, reply) =>
      reply.send({
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/keys`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'],
        code_challenge_methods_supported: ['S256'],
      }),
    )
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
    clientId: client.clientId,
    clientSecret: client.clientSecret,
    issuer: 'sandbox:google',
    tokenIssuers: [issuer],
    endpoints: async () => ({
      authorize: `${issuer}/authorize`,
      token: `${selfUrl}${path}/token`,
      keys: `${selfUrl}${path}/keys`,
    }),
  }
  return { register, options }
}

/** GitHub as its documents describe it: a refused code is answered with 200 and an error, and e-mails have their own endpoint. */
const createSandboxGithub = ({ browserUrl, selfUrl, path, redirectUri, clock }: ProviderAddresses) => {
  const client = { clientId: 'sandbox.github', clientSecret: randomUUID(), redirectUri }
  const authorization = createAuthorization({ title: 'GitHub', path: `${path}/login/oauth/authorize`, clock, ...client })
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
    const userOf = (person: SandboxPerson) => ({
      id: githubIdOf(person),
      login: githubLoginOf(person),
      name: person.name,
      email: null,
    })
    app.get(`${path}/api/user`, unlisted, asPerson(userOf))
    const emailsOf = (person: SandboxPerson) => [
      { email: `${githubIdOf(person)}@users.noreply.example.com`, primary: false, verified: true, visibility: null },
      { email: person.email, primary: true, verified: person.verified, visibility: 'private' },
    ]
    app.get(`${path}/api/user/emails`, unlisted, asPerson(emailsOf))
  }

  const options: GithubOptions = {
    clientId: client.clientId,
    clientSecret: client.clientSecret,
    issuer: 'sandbox:github',
    authorizeUrl: `${browserUrl}${path}/login/oauth/authorize`,
    tokenUrl: `${selfUrl}${path}/login/oauth/access_token`,
    apiUrl: `${selfUrl}${path}/api`,
  }
  return { register, options }
}

export const sandboxIdentityPath = '/sandbox/identity'
/** The prefix of the issuers of simulated identities; no real issuer has it. */
export const sandboxIssuerPrefix = 'sandbox:'

export type IdentitySandbox = { google: GoogleOptions; github: GithubOptions; register: (app: App) => Promise<void> }

/**
 * Google and GitHub, simulated, so that a person who has just started the service can try both buttons. They run on the service's own
 * public server, because a browser must reach them. The clock is the real one: the ID token's times are checked against the machine's.
 */
export const createIdentitySandbox = ({
  publicUrl,
  ...options
}: Pick<ProviderAddresses, 'selfUrl' | 'clock'> & { publicUrl: string }): IdentitySandbox => {
  const seat = (provider: 'google' | 'github') => ({
    ...options,
    browserUrl: publicUrl,
    path: `${sandboxIdentityPath}/${provider}`,
    redirectUri: `${publicUrl}/v1/auth/${provider}/callback`,
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
