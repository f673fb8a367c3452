import type { Uuid } from '../../lib/ids.ts'
import { destinationContext } from '../../modules/beneficiaries/queries.ts'
import { depositContext } from '../../modules/deposits/deposit.ts'
import { mailContext } from '../../modules/mail/service.ts'
import { subscriptionContext } from '../../modules/push/send.ts'
import { deliveryContext } from '../../modules/sending/deliveries.ts'
import { phoneContext } from '../../modules/topups/service.ts'

export type SealedRow = { id: Uuid; workspace_id: Uuid; ciphertext: Buffer; key_id: string }

/** Columns `<column>_ciphertext` and `<column>_key_id`, and the context that is authenticated with the value. */
export type SealedColumn = { table: string; column: string; context: (row: SealedRow) => readonly string[] }

/** All encrypted columns whose values persist. Secrets of sign-in flows and tokens of providers expire and are omitted. */
export const sealedColumns: readonly SealedColumn[] = [
  { table: 'beneficiaries', column: 'destination', context: (row) => destinationContext(row.id, row.workspace_id) },
  { table: 'topups', column: 'phone', context: (row) => phoneContext({ id: row.id, workspaceId: row.workspace_id }) },
  { table: 'deposits', column: 'body', context: (row) => depositContext(row.id) },
  { table: 'callback_bodies', column: 'body', context: (row) => deliveryContext(row.id) },
  { table: 'push_subscriptions', column: 'endpoint', context: (row) => subscriptionContext(row.id) },
  { table: 'mails', column: 'address', context: (row) => mailContext(row.id) },
]
