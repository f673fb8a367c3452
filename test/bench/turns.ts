import { Agent, request } from 'node:http'
import { createInterface } from 'node:readline'
import secp256k1 from 'secp256k1'
import { hashMessage, hexToBytes } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'

// A process that sends requests which need the answer to the one before: refresh tokens, and sign-ins with a wallet; or as many requests
// that do nothing, for what such a process itself takes from the machine. For each line on its input ("seconds" or "seconds perSecond") it sends for that long and writes how many it did in a second.

export type Turns =
  | { kind: 'refresh'; url: string; path: string; clientId: string; tokens: readonly string[] }
  | { kind: 'sign_in'; dialect: 'ours' | 'better-auth'; url: string; wallets: number }
  | { kind: 'nothing'; url: string; callers: number }

const turns = JSON.parse(process.argv[2] ?? '') as Turns
const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY })

type Sent = { method: 'GET' } | { method: 'POST'; type: string; body: string }

const send = (path: string, sent: Sent): Promise<Record<string, string>> =>
  new Promise((resolve, reject) => {
    const { method } = sent
    const headers = method === 'GET' ? {} : { 'content-type': sent.type, 'content-length': Buffer.byteLength(sent.body) }
    const call = request(`${turns.url}${path}`, { agent, method, headers }, (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (part: string) => {
        text += part
      })
      answer.once('end', () => {
        if ((answer.statusCode ?? 500) < 300) resolve(text === '' ? {} : JSON.parse(text))
        else reject(new Error(`${path} answered ${answer.statusCode}: ${text.slice(0, 300)}`))
      })
    })
    call.once('error', reject)
    call.end(method === 'GET' ? undefined : sent.body)
  })
const post = (path: string, type: string, body: string) => send(path, { method: 'POST', type, body })
const postJson = (path: string, body: object) => post(path, 'application/json', JSON.stringify(body))

const wallet = () => {
  const key = generatePrivateKey()
  const bytes = hexToBytes(key)
  const sign = (message: string): string => {
    const { signature, recid } = secp256k1.ecdsaSign(hexToBytes(hashMessage(message)), bytes)
    return `0x${Buffer.from(signature).toString('hex')}${(27 + recid).toString(16)}`
  }
  return { address: privateKeyToAddress(key), sign }
}

const signIn = (dialect: 'ours' | 'better-auth'): (() => Promise<unknown>) => {
  const { address, sign } = wallet()
  if (dialect === 'ours')
    return async () => {
      const { message = '' } = await postJson('/v1/auth/wallet/nonce', { address })
      await postJson('/v1/auth/wallet/verify', { message, signature: sign(message) })
    }
  return async () => {
    const { nonce } = await postJson('/api/auth/siwe/nonce', {})
    const message = `localhost wants you to sign in with your Ethereum account:\n${address}\n\nSign in.\n\nURI: http://localhost\nVersion: 1\nChain ID: 1\nNonce: ${nonce}\nIssued At: ${new Date().toISOString()}`
    await postJson('/api/auth/siwe/verify', { message, signature: sign(message) })
  }
}

const refresh = ({ clientId, path }: { clientId: string; path: string }, first: string): (() => Promise<unknown>) => {
  let token = first
  return async () => {
    const form = new URLSearchParams({ grant_type: 'refresh_token', client_id: clientId, refresh_token: token })
    const answer = await post(path, 'application/x-www-form-urlencoded', form.toString())
    token = answer.refresh_token ?? ''
  }
}

/** As many requests as a sign-in has. */
const doNothing = async () => {
  await send('/healthz', { method: 'GET' })
  await send('/healthz', { method: 'GET' })
}

const openLoops = (): (() => Promise<unknown>)[] => {
  switch (turns.kind) {
    case 'refresh':
      return turns.tokens.map((token) => refresh(turns, token))
    case 'sign_in':
      return Array.from({ length: turns.wallets }, () => signIn(turns.dialect))
    case 'nothing':
      return Array.from({ length: turns.callers }, () => doNothing)
  }
}
const loops = openLoops()

const run = async (seconds: number, perSecond: number | undefined): Promise<number> => {
  const began = performance.now()
  const ends = began + seconds * 1000
  let done = 0
  const pause = perSecond === undefined ? 0 : (loops.length / perSecond) * 1000
  await Promise.all(
    loops.map(async (turn, at) => {
      for (let next = began + (pause * at) / loops.length; performance.now() < ends; next += pause) {
        const wait = next - performance.now()
        if (pause > 0 && wait > 0) await new Promise((resolve) => setTimeout(resolve, wait))
        await turn()
        done += 1
      }
    }),
  )
  return done / ((performance.now() - began) / 1000)
}

process.stdout.write('ready\n')
for await (const line of createInterface({ input: process.stdin })) {
  const [seconds = '1', perSecond] = line.split(' ')
  process.stdout.write(`${await run(Number(seconds), perSecond === undefined ? undefined : Number(perSecond))}\n`)
}
