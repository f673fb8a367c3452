import { createECDH } from 'node:crypto'
import type { Logger } from 'pino'
import type { Derivations, Vault } from '../../auth/vault.ts'
import type { Config } from '../../config.ts'
import type { pushSubscriptions } from '../../db/tables/push.ts'
import { type GuardedFetch, isPublicAddress } from '../../http/guarded-fetch.ts'
import type { Uuid } from '../../lib/ids.ts'
import { isLoopbackUrl } from '../../lib/loopback.ts'

export type SubscriptionRecord = typeof pushSubscriptions.$inferSelect

/** `*.` before a host matches all hosts below it. */
const isAt = (host: string, pattern: string): boolean =>
  pattern.startsWith('*.') ? host.endsWith(pattern.slice(1)) : host === pattern

/** Returns why the endpoint is rejected, or undefined if it is allowed: at a push service or, except in production, this machine. */
export const endpointProblem = (endpoint: string, config: Pick<Config, 'NODE_ENV' | 'PUSH_HOSTS'>): string | undefined => {
  if (!/^https?:\/\//i.test(endpoint) || !URL.canParse(endpoint)) return 'must be the https address of a push service'
  const url = new URL(endpoint)
  if (url.username !== '' || url.password !== '') return 'must have no user'
  if (config.NODE_ENV !== 'production' && isLoopbackUrl(endpoint)) return undefined
  if (url.protocol !== 'https:' || url.port !== '') return 'must be an https address on the usual port'
  if (!config.PUSH_HOSTS.some((pattern) => isAt(url.hostname, pattern)))
    return 'must be at one of the push services that are called here'
  return undefined
}

/** Without a title, the message withdraws the notification with this tag. */
export type PushMessage = { tag: string; title?: string; body?: string; url?: string }

export type Push = {
  publicKey: string
  /**
   * Sends once. A message replaces an undelivered message of its topic. Returns false if the push service no longer knows the
   * subscription, or knows it under another key.
   */
  send: (to: SubscriptionRecord, message: PushMessage, delivery: { topic: string; ttlSeconds: number }) => Promise<boolean>
}

export const subscriptionContext = (id: Uuid): readonly string[] => ['push_subscription', id]

/** Seals the endpoint with its secret, because anyone with both could send to the browser. */
export const sealEndpoint = (vault: Vault, id: Uuid, endpoint: string, auth: string) =>
  vault.seal(JSON.stringify([endpoint, auth]), subscriptionContext(id))

/** In development, the key derives from the other keys, so that a browser stays subscribed after a restart. */
const keyOf = ({ VAPID_KEYS, NODE_ENV }: Config, derivations: Derivations): Buffer | null =>
  VAPID_KEYS?.current.bytes ?? (NODE_ENV === 'development' ? derivations.mac('push', 'key') : null)

const maxAnswerBytes = 16 * 1024

/** Answers of Apple, Google and Mozilla if the subscription has another key. Any other rejected signature is our fault. */
const otherKey = /VapidPkHashMismatch|do(?:es)? not correspond|"errno"\s*:\s*109\b|\bkey\b[^.]{0,40}\bmis-?match/i

const hasEnded = ({ status, text }: { status: number; text: string }): boolean =>
  status === 404 || status === 410 || ((status === 401 || status === 403) && otherKey.test(text))

/** Web Push (RFC 8030, encrypted by RFC 8291, identified by RFC 8292). Null if it is switched off. */
export const createPush = (
  config: Config,
  { derivations, fetch, logger, vault }: { derivations: Derivations; fetch: GuardedFetch; logger: Logger; vault: Vault },
): Push | null => {
  const key = keyOf(config, derivations)
  if (!key) return null
  const ecdh = createECDH('prime256v1')
  ecdh.setPrivateKey(key)
  const publicKey = ecdh.getPublicKey('base64url')
  const subject = config.VAPID_SUBJECT ?? (isLoopbackUrl(config.publicUrl) ? 'mailto:operator@example.com' : config.publicUrl)
  const vapidDetails = { subject, publicKey, privateKey: key.toString('base64url') }
  return {
    publicKey,
    send: async (to, message, { topic, ttlSeconds }) => {
      const sealed = { ciphertext: to.endpointCiphertext, keyId: to.endpointKeyId }
      const [endpoint, auth] = JSON.parse(vault.open(sealed, subscriptionContext(to.id))) as [string, string]
      const problem = endpointProblem(endpoint, config)
      const warnNotAccepted = (facts: object) =>
        logger.warn({ push_subscription: to.id, ...facts }, 'push notification not accepted by the push service')
      if (problem !== undefined) {
        warnNotAccepted({ problem })
        return true
      }
      const { default: webPush } = await import('web-push')
      const subscription = { endpoint, keys: { p256dh: to.p256dh.toString('base64url'), auth } }
      const { body, headers } = webPush.generateRequestDetails(subscription, JSON.stringify(message), {
        vapidDetails,
        TTL: ttlSeconds,
        urgency: 'high',
        topic,
        contentEncoding: 'aes128gcm',
      })
      const post = { headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])), body }
      const allows = isLoopbackUrl(endpoint) ? () => true : isPublicAddress
      const url = new URL(endpoint)
      const answer = await fetch(url, { post, maxBytes: maxAnswerBytes, allows }).catch((error: unknown) => {
        warnNotAccepted({ problem: error instanceof Error ? error.message : 'no answer' })
        return null
      })
      if (answer && (answer.status < 200 || answer.status > 299)) warnNotAccepted({ status: answer.status })
      return answer === null || !hasEnded(answer)
    },
  }
}
