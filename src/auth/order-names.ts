import { createHmac, createSecretKey } from 'node:crypto'
import type { Uuid } from '../lib/ids.ts'
import type { Key } from '../lib/key-ring.ts'
import { equalBytes } from './secrets.ts'

type OrderName = { orderId: Uuid; reference: string }

/** A UUID of version 8 (RFC 9562): its other bits are ours to choose. */
const uuidOf = (mac: Buffer): Uuid => {
  const bytes = Buffer.from(mac.subarray(0, 16))
  bytes.writeUInt8(0x80 | (bytes.readUInt8(6) & 0x0f), 6)
  bytes.writeUInt8(0x80 | (bytes.readUInt8(8) & 0x3f), 8)
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

const digitsOf = (mac: Buffer): string => String(100_000_000_000n + (mac.readBigUInt64BE(16) % 900_000_000_000n))

const secretDigits = 48

/**
 * All names derive from the order's cause. A payment that the database lost, and that is requested again, is sent under the same
 * names, not paid twice. So `key` is never rotated.
 */
export const createOrderNames = (key: Key) => {
  const imported = createSecretKey(key.bytes)
  const mac = (...parts: readonly (string | number)[]): Buffer =>
    createHmac('sha256', imported).update(JSON.stringify(parts)).digest()
  /** Part of each delivery's path: deliveries are unsigned. Hexadecimal, because a provider refuses certain words. */
  const secretOf = (attemptId: Uuid): string => mac('callback', attemptId).toString('hex').slice(0, secretDigits)
  return {
    /** `generation`: incremented if the earlier name belongs to another payment. */
    orderOf: (seed: readonly string[], generation: number): OrderName => {
      const name = mac('order', generation, ...seed)
      return { orderId: uuidOf(name), reference: digitsOf(name) }
    },
    /** `send` counts from 1. */
    attemptOf: ({ orderId }: Pick<OrderName, 'orderId'>, send: number): Uuid => uuidOf(mac('attempt', orderId, send)),
    secretOf,
    /** True even for an attempt that the database no longer has: only this service can have made the secret. */
    isSecretOf: (attemptId: Uuid, secret: string): boolean => equalBytes(Buffer.from(secretOf(attemptId)), Buffer.from(secret)),
  }
}
export type OrderNames = ReturnType<typeof createOrderNames>
