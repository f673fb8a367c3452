// Runs in a folder of its own, where oidc-provider was installed for this run: not part of the service, and not checked with it.
// @ts-nocheck
import { createServer } from 'node:http'
import { Provider } from 'oidc-provider'
import pg from 'pg'

// Its notices about development settings go to the same output as this program's one line.
console.info = () => undefined
console.warn = () => undefined

const [databaseUrl, count] = process.argv.slice(2)
const pool = new pg.Pool({ connectionString: databaseUrl, max: 10, options: '-c search_path=peers' })
await pool.query('create schema if not exists peers')
await pool.query(
  `create table if not exists oidc (model text, id text, payload jsonb not null, grant_id text, user_code text, uid text, expires_at timestamptz,
   consumed_at timestamptz, primary key (model, id))`,
)
await pool.query('create index on oidc (grant_id)')

const named = (name, text) => (values) => pool.query({ name, text, values })
const upsert = named(
  'upsert',
  `insert into oidc (model, id, payload, grant_id, user_code, uid, expires_at)
   values ($1, $2, $3, $4, $5, $6, now() + make_interval(secs => $7))
   on conflict (model, id) do update set payload = excluded.payload, grant_id = excluded.grant_id, expires_at = excluded.expires_at`,
)
const find = named('find', 'select payload, expires_at, consumed_at from oidc where model = $1 and id = $2')
const consume = named('consume', 'update oidc set consumed_at = now() where model = $1 and id = $2')
const destroy = named('destroy', 'delete from oidc where model = $1 and id = $2')
const revoke = named('revoke', 'delete from oidc where grant_id = $1')

class Adapter {
  constructor(model) {
    this.model = model
  }
  async upsert(id, payload, expiresIn) {
    const { grantId, userCode, uid } = payload
    await upsert([this.model, id, JSON.stringify(payload), grantId ?? null, userCode ?? null, uid ?? null, expiresIn ?? 1e9])
  }
  async find(id) {
    const [row] = (await find([this.model, id])).rows
    if (!row || row.expires_at < new Date()) return undefined
    return { ...row.payload, ...(row.consumed_at && { consumed: Math.floor(row.consumed_at / 1000) }) }
  }
  async findByUserCode() {}
  async findByUid() {}
  async consume(id) {
    await consume([this.model, id])
  }
  async destroy(id) {
    await destroy([this.model, id])
  }
  async revokeByGrantId(grantId) {
    await revoke([grantId])
  }
}

const server = createServer().listen(0, '127.0.0.1')
await new Promise((resolve) => server.once('listening', resolve))
const url = `http://127.0.0.1:${server.address().port}`
const provider = new Provider(url, {
  adapter: Adapter,
  clients: [
    {
      client_id: 'bench',
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      redirect_uris: ['http://127.0.0.1/callback'],
    },
  ],
  scopes: ['openid', 'offline_access', 'payments'],
  rotateRefreshToken: true,
  issueRefreshToken: async () => true,
  findAccount: async (_ctx, id) => ({ accountId: id, claims: async () => ({ sub: id }) }),
  cookies: { keys: ['for this run alone'] },
})
server.on('request', provider.callback())

const client = await provider.Client.find('bench')
const tokens = []
for (let n = 0; n < Number(count); n += 1) {
  const grant = new provider.Grant({ accountId: `account-${n}`, clientId: 'bench' })
  grant.addOIDCScope('offline_access payments')
  const grantId = await grant.save()
  const token = new provider.RefreshToken({
    accountId: `account-${n}`,
    client,
    grantId,
    scope: 'offline_access payments',
    gty: 'authorization_code',
    rotations: 0,
    iiat: Math.floor(Date.now() / 1000),
  })
  tokens.push(await token.save())
}
process.stdout.write(`${JSON.stringify({ url, clientId: 'bench', path: '/token', tokens })}\n`)
