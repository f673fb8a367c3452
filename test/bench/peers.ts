import { execFile } from 'node:child_process'
import { cp, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { createSiweMessage } from 'viem/siwe'
import { jsonOf } from './connection.ts'
import { asked, compare, costing, type Load, type Run, requesting } from './load.ts'
import { freeUrl, start } from './processes.ts'

/** Installed into the bench's own folder for the run, never dependencies of the service. */
const packages = ['better-auth@1.7.5', '@better-auth/api-key@1.7.5', 'oidc-provider@9', 'viem@2', 'pg@8', 'fastify@5']

/** A token for each connection, because our server waits before it answers. */
const rotating = (url: string, path: string, client_id: string, tokens: string[]): Load => {
  const turn: Load['turn'] = async (connection, index) => {
    const form = { grant_type: 'refresh_token', refresh_token: tokens[index] ?? '', client_id }
    tokens[index] = (await jsonOf(connection, { method: 'POST', path, form })).refresh_token
    return 200
  }
  return { url, connections: tokens.length, turn }
}

/** Only our server wants the address before it gives a nonce; better-auth refuses fields that it does not know. */
const signingIn = (url: string, path: string, isOurs: boolean): Load => {
  const account = privateKeyToAccount(generatePrivateKey())
  const about = { address: account.address, chainId: 1, domain: 'localhost', uri: 'http://localhost', version: '1' } as const
  const turn: Load['turn'] = async (connection) => {
    const post = async (step: string, body: object) => jsonOf(connection, { method: 'POST', path: `${path}/${step}`, body })
    const { nonce, message = createSiweMessage({ ...about, nonce }) } = await post(
      'nonce',
      isOurs ? { address: account.address } : {},
    )
    await post('verify', { message, signature: await account.signMessage({ message }) })
    return 200
  }
  return { url, connections: 32, turn }
}

/** P5, on the same Postgres, in turn. */
export const measurePeers = async (run: Run): Promise<void> => {
  const { bench, service, readers } = run
  const folder = join(bench.folder, 'peers')
  await mkdir(folder)
  const install = ['install', '--no-audit', '--no-fund', '--legacy-peer-deps', '--prefix', folder, ...packages]
  await promisify(execFile)('npm', install, { maxBuffer: 1e7 })
  await cp(join(import.meta.dirname, 'peer-servers.ts'), join(folder, 'servers.mts'))
  const peers = await start([join(folder, 'servers.mts'), bench.databaseUrl], await freeUrl())
  const { key, tokens } = JSON.parse(await (await fetch(`${peers.url}/readyz`)).text())
  const here = (load: Load) => costing(bench, service, load)
  const there = (load: Load) => costing(bench, peers, load)
  const checks = here(asked(run, 'workspaces.current', service, readers))
  const theirChecks = there(requesting(peers.url, [{ method: 'GET', path: '/check', credential: key }]))
  await compare(run, "check of an API key: better-auth's processor time ÷ ours", '≥ 8', theirChecks, checks)
  const signIns = here(signingIn(service.url, '/v1/auth/wallet', true))
  const theirSignIns = there(signingIn(peers.url, '/api/auth/siwe', false))
  await compare(run, "sign-in with a wallet: better-auth's processor time ÷ ours", '≥ 2', theirSignIns, signIns)
  const own = readers.slice(0, 256).map(({ refreshToken }) => refreshToken)
  const rotations = here(rotating(service.url, '/v1/oauth/token', readers[0]?.client ?? '', own))
  const theirRotations = there(rotating(peers.url, '/token', 'bench', tokens))
  await compare(run, "rotation of a refresh token: processor time ÷ oidc-provider's", '≤ 1.5', rotations, theirRotations)
  await peers.stop()
}
