// Runs in a folder of its own, where better-auth was installed for this run: not part of the service, and not checked with it.
// @ts-nocheck
import { randomBytes } from 'node:crypto'
import { apiKey } from '@better-auth/api-key'
import { betterAuth } from 'better-auth'
import { getMigrations } from 'better-auth/db/migration'
import { siwe } from 'better-auth/plugins'
import { fastify } from 'fastify'
import pg from 'pg'
import { verifyMessage } from 'viem'

const [databaseUrl] = process.argv.slice(2)
const pool = new pg.Pool({ connectionString: databaseUrl, max: 10, options: '-c search_path=peers' })
await pool.query('create schema if not exists peers')
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
    siwe({
      domain: 'localhost',
      getNonce: async () => randomBytes(12).toString('hex'),
      verifyMessage: ({ message, signature, address }) => verifyMessage({ address, message, signature }),
    }),
  ],
})
await (await getMigrations(auth.options)).runMigrations()
const { user } = await auth.api.signUpEmail({ body: { email: 'a@example.com', password: 'only for this run', name: 'A' } })
const { key } = await auth.api.createApiKey({ body: { userId: user.id } })

const app = fastify()
app.get('/check', async (request, reply) => {
  const checked = await auth.api.verifyApiKey({ body: { key: request.headers.authorization.slice(7) } })
  return reply
    .code(checked.valid ? 200 : 401)
    .send({ valid: checked.valid, user: checked.key?.referenceId ?? checked.key?.userId })
})
app.post('/api/auth/*', async (request, reply) => {
  const headers = { 'content-type': 'application/json', 'user-agent': 'bench' }
  const call = new Request(`http://localhost${request.url}`, { method: 'POST', headers, body: JSON.stringify(request.body) })
  const answer = await auth.handler(call)
  return reply
    .code(answer.status)
    .type('application/json')
    .send(await answer.text())
})
const url = await app.listen({ host: '127.0.0.1', port: 0 })
process.stdout.write(`${JSON.stringify({ url, key })}\n`)
