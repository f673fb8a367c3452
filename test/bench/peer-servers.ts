// Runs in a folder of its own, where these packages were installed for this run: not part of the service, and not checked with it.
// @ts-nocheck
import { randomBytes } from 'node:crypto'
import { apiKey } from '@better-auth/api-key'
import { betterAuth } from 'better-auth'
import { getMigrations } from 'better-auth/db/migration'
import { siwe } from 'better-auth/plugins'
import { fastify } from 'fastify'
import { Provider } from 'oidc-provider'
import pg from 'pg'
import { verifyMessage } from 'viem'

const pool = new pg.Pool({ connectionString: process.argv[2], max: 10, options: '-c search_path=peers' })
await pool.query('create schema peers')

const auth = betterAuth({
  database: pool,
  secret: 'for this run alone, and for nothing else at all',
  baseURL: 'http://localhost',
  emailAndPassword: { enabled: true },
  logger: { disabled: true },
  rateLimit: { enabled: false },
  advanced: { disableCSRFCheck: true, disableOriginCheck: true },
  plugins: [
    apiKey({ rateLimit: { enabled: false } }),
    siwe({ domain: 'localhost', getNonce: async () => randomBytes(12).toString('hex'), verifyMessage }),
  ],
})
await (await getMigrations(auth.options)).runMigrations()
const { user } = await auth.api.signUpEmail({ body: { email: 'a@example.com', password: 'only for this run', name: 'A' } })
const { key } = await auth.api.createApiKey({ body: { userId: user.id } })
await pool.query(`create table oidc (model text, id text, payload jsonb not null, grant_id text, expires_at timestamptz, consumed_at timestamptz,
  primary key (model, id)); create index on oidc (grant_id)`)
const run = async (name, text, ...values) => (await pool.query({ name, text, values })).rows
const upsert = `insert into oidc values ($1, $2, $3, $4, now() + make_interval(secs => $5)) on conflict (model, id)
  do update set payload = excluded.payload, grant_id = excluded.grant_id, expires_at = excluded.expires_at`
const adapter = (model) => ({
  upsert: (id, payload, seconds = 1e9) =>
    run('upsert', upsert, model, id, JSON.stringify(payload), payload.grantId ?? null, seconds),
  find: async (id) => {
    const [row] = await run('find', 'select payload, expires_at, consumed_at from oidc where model = $1 and id = $2', model, id)
    if (!row || row.expires_at < new Date()) return undefined
    return { ...row.payload, ...(row.consumed_at && { consumed: Math.floor(row.consumed_at / 1000) }) }
  },
  consume: (id) => run('consume', 'update oidc set consumed_at = now() where model = $1 and id = $2', model, id),
})
const [grant_types, redirect_uris] = [['authorization_code', 'refresh_token'], ['http://127.0.0.1/callback']]
const provider = new Provider(`http://localhost:${process.env.PORT}`, {
  adapter,
  clients: [{ client_id: 'bench', token_endpoint_auth_method: 'none', response_types: ['code'], grant_types, redirect_uris }],
  scopes: ['openid', 'offline_access', 'payments'],
  rotateRefreshToken: true,
  issueRefreshToken: async () => true,
  findAccount: async (_ctx, id) => ({ accountId: id, claims: async () => ({ sub: id }) }),
  cookies: { keys: ['for this run alone'] },
})
const client = await provider.Client.find('bench')
const tokens = []
for (let n = 0; n < 256; n += 1) {
  const account = { accountId: `account-${n}`, clientId: 'bench' }
  const grant = new provider.Grant(account)
  grant.addOIDCScope('offline_access payments')
  const [grantId, iiat] = [await grant.save(), Math.floor(Date.now() / 1000)]
  const token = { ...account, client, grantId, scope: 'offline_access payments', gty: 'authorization_code', rotations: 0, iiat }
  tokens.push(await new provider.RefreshToken(token).save())
}

const app = fastify()
app.get('/readyz', async () => ({ key, tokens }))
app.get('/check', async (request, reply) => {
  const { valid } = await auth.api.verifyApiKey({ body: { key: request.headers.authorization.slice(7) } })
  return reply.code(valid ? 200 : 401).send({ valid })
})
app.post('/api/auth/*', async ({ url, body }, reply) => {
  const headers = { 'content-type': 'application/json', 'user-agent': 'bench' }
  const call = { method: 'POST', headers, body: JSON.stringify(body) }
  const answer = await auth.handler(new Request(`http://localhost${url}`, call))
  return reply.code(answer.status).send(await answer.json())
})
const rotate = provider.callback()
app.addHook('onRequest', (request, reply, done) => (request.url === '/token' ? rotate(request.raw, reply.hijack().raw) : done()))
await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT) })
