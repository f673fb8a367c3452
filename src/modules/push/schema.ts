import { ECDH } from 'node:crypto'
import { z } from 'zod'
import { presenter } from '../../http/presenter.ts'
import { BodyIn, bounded, IdOut, RecordOut, TimeOut } from '../../http/wire.ts'

export const PushKey = RecordOut('PushKey', {
  public_key: z.string().describe('The `applicationServerKey` for `pushManager.subscribe()` (VAPID).'),
})

const base64url = (bytes: number) =>
  bounded(100)
    .regex(/^[\w-]+={0,2}$/, 'must be base64url')
    .transform((text) => Buffer.from(text, 'base64url'))
    .refine(({ length }) => length === bytes, `must be ${bytes} bytes in base64url`)

/** Accepts only an uncompressed point of P-256, because nothing can be encrypted for other bytes. */
const isPoint = (bytes: Buffer): boolean => {
  try {
    return bytes[0] === 4 && ECDH.convertKey(bytes, 'prime256v1').length === bytes.length
  } catch {
    return false
  }
}

export const CreatePushSubscription = BodyIn('CreatePushSubscription', {
  endpoint: bounded(2048).describe('The endpoint at the push service, as the browser provides it.'),
  expirationTime: z.number().nullish().describe('Sent by browsers; ignored.'),
  keys: z.strictObject({
    p256dh: base64url(65).refine(isPoint, 'must be a public key of P-256').describe('The public key of the browser.'),
    auth: base64url(16).describe('The 16-byte secret of the browser.'),
  }),
})
export type CreatePushSubscription = z.output<typeof CreatePushSubscription>

export const PushSubscription = RecordOut('PushSubscription', {
  id: IdOut('push_subscription'),
  created_at: TimeOut,
  user_agent: z.string().nullable(),
})
export const presentSubscription = presenter(PushSubscription)
