import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { GithubOptions } from '../../auth/providers/github.ts'
import type { App } from '../../http/app-type.ts'
import type { ProviderAddresses } from './identity-google.ts'
import { createCodes, githubIdOf, githubLoginOf, registerAuthorizePage, type SandboxPerson } from './identity-page.ts'

const TokenRequest = z.object({
  code: z.string(),
  redirect_uri: z.string(),
  code_verifier: z.string().min(43),
  client_id: z.string(),
  client_secret: z.string(),
})

/** GitHub as its documents describe it: a refused code is answered with 200 and an error, and e-mails have their own endpoint. */
export const createSandboxGithub = ({ browserUrl, selfUrl, path, redirectUri, clock }: ProviderAddresses) => {
  const client = { clientId: 'sandbox.github', clientSecret: randomUUID(), redirectUri }
  const codes = createCodes(clock)
  const signedIn = new Map<string, SandboxPerson>()
  const config = { internal: true, access: 'public' as const }

  const personOf = (authorization: string | undefined): SandboxPerson | undefined =>
    signedIn.get(/^Bearer (\S+)$/.exec(authorization ?? '')?.[1] ?? '')

  const register = (app: App): void => {
    registerAuthorizePage(app, { title: 'GitHub', path: `${path}/login/oauth/authorize`, client, codes })
    app.post(`${path}/login/oauth/access_token`, { config, schema: { hide: true } }, async (request, reply) => {
      const tokenRequest = TokenRequest.safeParse(request.body)
      if (!tokenRequest.success) return reply.send({ error: 'bad_verification_code' })
      const { code, redirect_uri, code_verifier, client_id, client_secret } = tokenRequest.data
      if (client_id !== client.clientId || client_secret !== client.clientSecret)
        return reply.send({ error: 'incorrect_client_credentials' })
      const consent = codes.redeem(code, redirect_uri, code_verifier)
      if (!consent) return reply.send({ error: 'bad_verification_code' })
      const token = `gho_${randomUUID()}`
      signedIn.set(token, consent.person)
      return reply.send({ access_token: token, token_type: 'bearer', scope: 'read:user,user:email' })
    })
    app.get(`${path}/api/user`, { config, schema: { hide: true } }, async (request, reply) => {
      const person = personOf(request.headers.authorization)
      if (!person) return reply.code(401).send({ message: 'Bad credentials' })
      return reply.send({ id: githubIdOf(person), login: githubLoginOf(person), name: person.name, email: null })
    })
    app.get(`${path}/api/user/emails`, { config, schema: { hide: true } }, async (request, reply) => {
      const person = personOf(request.headers.authorization)
      if (!person) return reply.code(401).send({ message: 'Bad credentials' })
      const { email, verified } = person
      const other = { email: `${githubIdOf(person)}@users.noreply.example.com`, primary: false, verified: true, visibility: null }
      return reply.send([other, { email, primary: true, verified, visibility: 'private' }])
    })
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
