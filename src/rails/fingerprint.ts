import { createHash } from 'node:crypto'
import type { Permission } from './exchange.ts'
import type { SendPermission } from './rail.ts'

/** Of an order as the provider gets it: a repeat must be the same order to the byte. */
const fingerprintOf = (order: object): Buffer => createHash('sha256').update(JSON.stringify(order)).digest()

export const permissionFor = (permission: SendPermission | undefined, order: object): Permission | undefined =>
  permission && { withinMs: permission.withinMs, take: () => permission.take(fingerprintOf(order)) }
