import {
  createDecipheriv,
  createECDH,
  createHash,
  createHmac,
  createPublicKey,
  type ECDH,
  randomBytes,
  verify,
} from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

// A push service and the browsers behind it, written from RFC 8030, 8188, 8291 and 8292 instead of the sending library. Otherwise
// an error of both would pass.

const hmac = (key: Buffer, ...parts: (Buffer | string | Uint8Array)[]): Buffer => {
  const mac = createHmac('sha256', key)
  for (const part of parts) mac.update(part)
  return mac.digest()
}
const one = Uint8Array.of(1)

/** RFC 8291 section 3.4, with the header of RFC 8188 section 2.1. One record holds a whole message. */
export const decrypt = (body: Buffer, browser: { ecdh: ECDH; auth: Buffer }): string => {
  const salt = body.subarray(0, 16)
  const recordSize = body.readUInt32BE(16)
  const idLength = body.readUInt8(20)
  const sender = body.subarray(21, 21 + idLength)
  const record = body.subarray(21 + idLength)
  if (idLength !== 65 || record.length > recordSize) throw new Error('not one record under a key of P-256')
  const shared = hmac(browser.auth, browser.ecdh.computeSecret(sender))
  const input = hmac(shared, 'WebPush: info\0', browser.ecdh.getPublicKey(), sender, one)
  const secret = hmac(salt, input)
  const key = hmac(secret, 'Content-Encoding: aes128gcm\0', one).subarray(0, 16)
  const nonce = hmac(secret, 'Content-Encoding: nonce\0', one).subarray(0, 12)
  const opener = createDecipheriv('aes-128-gcm', key, nonce).setAuthTag(record.subarray(-16))
  const padded = Buffer.concat([opener.update(record.subarray(0, -16)), opener.final()])
  const end = padded.lastIndexOf(2)
  if (end < 0 || padded.subarray(end + 1).some((byte) => byte !== 0)) throw new Error('the last record has no delimiter')
  return padded.toString('utf8', 0, end)
}

const json = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString())

/** The sender, by RFC 8292. Throws if anything is wrong. */
const senderOf = ({ authorization = '' }: IncomingHttpHeaders, origin: string): string => {
  const { t, k } = /^vapid t=(?<t>[\w.-]+), ?k=(?<k>[\w-]+)$/.exec(authorization)?.groups ?? {}
  if (t === undefined || k === undefined) throw new Error('no vapid authorization')
  const [header = '', claims = '', signature = ''] = t.split('.')
  const point = Buffer.from(k, 'base64url')
  const jwk = { kty: 'EC', crv: 'P-256', x: point.toString('base64url', 1, 33), y: point.toString('base64url', 33) }
  const key = createPublicKey({ format: 'jwk', key: jwk })
  const isSigned = verify(
    'sha256',
    Buffer.from(`${header}.${claims}`),
    { key, dsaEncoding: 'ieee-p1363' },
    Buffer.from(signature, 'base64url'),
  )
  const { aud, exp, sub } = json(claims)
  const now = Date.now() / 1000
  if (json(header).alg !== 'ES256' || !isSigned) throw new Error('the token is not signed by its key')
  if (aud !== origin) throw new Error(`the token is for ${aud}`)
  if (!(exp > now && exp <= now + 86_400)) throw new Error('the token lives for more than a day, or no longer')
  if (!/^(mailto:|https:)/.test(sub)) throw new Error('the token names nobody to write to')
  return k
}

export type Received = { text: string; headers: IncomingHttpHeaders; sender: string }

/** A browser's subscription, in the form of `toJSON()`, and its delivered messages. */
export type PushBrowser = {
  subscription: { endpoint: string; keys: { p256dh: string; auth: string } }
  received: Received[]
  /** Sets the push service's answer from now on, instead of accepting. */
  answers: (status: number | 'never', headers?: Record<string, string>, body?: string) => void
}

export type PushService = {
  url: string
  browser: () => PushBrowser
  /** Requests that are not push messages by the RFCs, with the reason. */
  refused: string[]
  close: () => Promise<void>
}

const read = async (request: IncomingMessage): Promise<Buffer> => {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return Buffer.concat(parts)
}

type Behind = PushBrowser & {
  ecdh: ECDH
  auth: Buffer
  answer: { status: number | 'never'; headers: Record<string, string>; body?: string }
}

const accept = async (request: IncomingMessage, browser: Behind, origin: string): Promise<void> => {
  const { headers } = request
  const body = await read(request)
  if (request.method !== 'POST') throw new Error('a message is posted')
  if (!/^\d+$/.test(String(headers.ttl))) throw new Error('TTL is missing (RFC 8030, 5.2)')
  if (headers['content-encoding'] !== 'aes128gcm') throw new Error('not aes128gcm')
  if (headers.topic !== undefined && !/^[\w-]{1,32}$/.test(String(headers.topic))) throw new Error('no topic (RFC 8030, 5.4)')
  if (body.length > 4096) throw new Error('larger than every push service accepts')
  browser.received.push({ text: decrypt(body, browser), headers, sender: senderOf(headers, origin) })
}

export const startPushService = async (): Promise<PushService> => {
  const browsers = new Map<string, Behind>()
  const refused: string[] = []
  let url = ''
  const server = createServer((request, response) => {
    const browser = browsers.get(request.url ?? '')
    if (!browser) return void response.writeHead(404).end()
    const { status, headers, body } = browser.answer
    if (status === 'never') return
    if (status !== 201) return void response.writeHead(status, headers).end(body)
    accept(request, browser, url).then(
      () => response.writeHead(201, { location: `${url}/m/${randomBytes(6).toString('hex')}` }).end(),
      (error: Error) => {
        refused.push(error.message)
        response.writeHead(400).end(error.message)
      },
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://localhost:${(server.address() as AddressInfo).port}`
  return {
    url,
    refused,
    browser: () => {
      const ecdh = createECDH('prime256v1')
      ecdh.generateKeys()
      const auth = randomBytes(16)
      const path = `/push/${createHash('sha256').update(auth).digest('base64url')}`
      const keys = { p256dh: ecdh.getPublicKey('base64url'), auth: auth.toString('base64url') }
      const browser: Behind = {
        subscription: { endpoint: url + path, keys },
        received: [],
        ecdh,
        auth,
        answer: { status: 201, headers: {} },
        answers: (status, headers = {}, body = '') => {
          browser.answer = { status, headers, body }
        },
      }
      browsers.set(path, browser)
      return browser
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}
