import { createHmac, createSecretKey } from 'node:crypto'
import type { Uuid } from '../lib/ids.ts'
import type { Key } from '../lib/key-ring.ts'
import { equalBytes } from './secrets.ts'

type OrderName = { orderId: Uuid; reference: string }

/** A UUID version 8 (RFC 9562), in which all bits but version and variant are free to choose. */
const uuidOf = (mac: Buffer): Uuid => {
  const bytes = Buffer.from(mac.subarray(0, 16))
  bytes.writeUInt8(0x80 | (bytes.readUInt8(6) & 0x0f), 6)
  bytes.writeUInt8(0x80 | (bytes.readUInt8(8) & 0x3f), 8)
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

const digitsOf = (mac: Buffer): string => String(100_000_000_000n + (mac.readBigUInt64BE(16) % 900_000_000_000n))

const secretDigits = 48

/**
 * Derives all names from the origin of the order. If the database loses a payment and the payment is requested again, the
 * provider sees the same names and does not pay twice. For this reason `key` is never rotated.
 */
export const createOrderNames = (key: Key) => {
  const imported = createSecretKey(key.bytes)
  const mac = (...parts: readonly (string | number)[]): Buffer =>
    createHmac('sha256', imported).update(JSON.stringify(parts)).digest()
  /** Part of the callback URL, because callbacks are unsigned. Hexadecimal, because a provider rejects certain words. */
  const secretOf = (attemptId: Uuid): string => mac('callback', attemptId).toString('hex').slice(0, secretDigits)
  return {
    /** `generation`: incremented if another payment already has the name. */
    orderOf: (seed: readonly string[], generation: number): OrderName => {
      const name = mac('order', generation, ...seed)
      return { orderId: uuidOf(name), reference: digitsOf(name) }
    },
    /** `attempt`: its number, starting at 1. */
    attemptOf: ({ orderId }: Pick<OrderName, 'orderId'>, attempt: number): Uuid => uuidOf(mac('attempt', orderId, attempt)),
    secretOf,
    /** True even for an attempt missing from the database, because only this service can have created the secret. */
    isSecretOf: (attemptId: Uuid, secret: string): boolean => equalBytes(Buffer.from(secretOf(attemptId)), Buffer.from(secret)),
  }
}
export type OrderNames = ReturnType<typeof createOrderNames>
