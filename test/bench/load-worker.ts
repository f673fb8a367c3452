import { setTimeout as wait } from 'node:timers/promises'
import secp256k1 from 'secp256k1'
import { hashMessage, hexToBytes } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { Connection, jsonOf } from './connection.ts'
import type { Load, Measured } from './load.ts'

// The process that sends a load, so that it does not share the service's thread.

const sign = (key: `0x${string}`, message: string): string => {
  const { signature, recid } = secp256k1.ecdsaSign(hexToBytes(hashMessage(message)), hexToBytes(key))
  return `0x${Buffer.from(signature).toString('hex')}${(27 + recid).toString(16)}`
}

/** One turn of a connection: a request, or requests of which each needs the answer to the one before. Its result is the status. */
const turnsOf = (load: Load, connection: Connection, at: number): (() => Promise<number>) => {
  const post = async (path: string, body: object) => jsonOf(connection, { method: 'POST', path, body })
  if (load.kind === 'requests') {
    const { requests, once } = load
    const next = once ? () => requests.shift() : () => requests[Math.floor(Math.random() * requests.length)]
    return async () => {
      const request = next()
      return request ? (await connection.send(request)).status : 0
    }
  }
  if (load.kind === 'refresh') {
    let refresh_token = load.tokens[at] ?? ''
    return async () => {
      const form = { grant_type: 'refresh_token', refresh_token, client_id: load.clientId }
      refresh_token = (await jsonOf(connection, { method: 'POST', path: load.path, form })).refresh_token
      return 200
    }
  }
  const key = generatePrivateKey()
  const address = privateKeyToAddress(key)
  const ours = async () => {
    const { message } = await post('/v1/auth/wallet/nonce', { address })
    await post('/v1/auth/wallet/verify', { message, signature: sign(key, message) })
    return 200
  }
  const theirs = async () => {
    const { nonce } = await post('/api/auth/siwe/nonce', {})
    const head = `localhost wants you to sign in with your Ethereum account:\n${address}\n\nSign in.\n\nURI: http://localhost\nVersion: 1`
    const message = `${head}\nChain ID: 1\nNonce: ${nonce}\nIssued At: ${new Date().toISOString()}`
    await post('/api/auth/siwe/verify', { message, signature: sign(key, message) })
    return 200
  }
  return load.kind === 'sign_in' ? ours : theirs
}

const measure = async (load: Load): Promise<Measured> => {
  const [took, refusals]: [number[], number[]] = [[], []]
  let failed = 0
  let error: string | undefined
  const began = performance.now()
  const isLeft = () => {
    if (load.kind === 'requests' && load.once) return load.requests.length > 0
    return performance.now() < began + load.seconds * 1000
  }
  const everyMs = load.perSecond === undefined ? 0 : (load.connections * 1000) / load.perSecond
  const send = async (_: unknown, at: number) => {
    const connection = new Connection(load.url)
    const turn = turnsOf(load, connection, at)
    await wait((at * everyMs) / load.connections)
    while (isLeft()) {
      const sent = performance.now()
      try {
        const list = (await turn()) < 400 ? took : refusals
        list.push(performance.now() - sent)
      } catch (reason) {
        error ??= String(reason)
        failed += 1
      }
      if (everyMs > 0) await wait(Math.max(0, everyMs - (performance.now() - sent)))
    }
    connection.close()
  }
  await Promise.all(Array.from({ length: load.connections }, send))
  const perSecond = (took.length * 1000) / (performance.now() - began)
  const p99 = (list: number[]) => list.sort((a, b) => a - b)[Math.floor(list.length * 0.99)] ?? Number.NaN
  const meanMs = took.reduce((sum, ms) => sum + ms, 0) / took.length
  const counts = { done: took.length, perSecond, refused: refusals.length, failed, error }
  return { ...counts, meanMs, p99Ms: p99(took), refusedP99Ms: p99(refusals) }
}

process.on('message', (load: Load) => void measure(load).then((measured) => process.send?.(measured)))
