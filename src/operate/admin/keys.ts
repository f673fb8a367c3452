import { realRails } from '../../app-rails.ts'
import { inTx, type Tx } from '../../db/client.ts'
import { audit } from '../../events/audit.ts'
import { sealAuditLog } from '../../events/seal.ts'
import type { Uuid } from '../../lib/ids.ts'
import { type BeneficiaryRecord, destinationContext } from '../../modules/beneficiaries/queries.ts'
import { fingerprintText } from '../../modules/beneficiaries/rules.ts'
import { railsWithOldAddress } from '../../modules/deposits/registration.ts'
import type { Operator } from '../../modules/operators.ts'
import { listSigningKeys, presentKeys, retireSigningKey } from '../../modules/proof/service.ts'
import { forgetTokens } from '../../modules/provider-tokens/service.ts'
import { type SealedColumn, type SealedRow, sealedColumns } from '../verify/sealed-columns.ts'
import { type Commands, command } from './arguments.ts'
import type { Console } from './console.ts'
import { depositsBy } from './rails.ts'

type Deps = Console['deps']

export const receiptKeyCommands = {
  'receipt-keys list': command('', 'the signing keys of receipts, with their times', async ({ deps }) =>
    presentKeys(await listSigningKeys(deps.db)),
  ),
  'receipt-keys retire': command(
    '<id>',
    'retires a key that is no longer first: it stays published, and can be removed from RECEIPT_KEYS',
    async ({ deps, operator }, [id]) => {
      await inTx(deps.db, (tx) => retireSigningKey(tx, deps.receiptKeys, operator, id))
      return presentKeys(await listSigningKeys(deps.db))
    },
  ),
} satisfies Commands

const batchSize = 200

/** How a step treats rows that another transaction has locked. An empty text waits for them. */
type LockWait = 'skip locked' | ''

const resealBatch = async (
  tx: Tx,
  { vault }: Deps,
  { table, column, context }: SealedColumn,
  locked: LockWait,
): Promise<number> => {
  const [ciphertext, keyId] = [`${column}_ciphertext`, `${column}_key_id`]
  const rows = await tx.query<SealedRow>(
    `select id, to_jsonb(t) ->> 'workspace_id' as workspace_id, ${ciphertext} as ciphertext, ${keyId} as key_id from ${table} t
     where ${keyId} <> $1 limit ${batchSize} for update ${locked}`,
    [vault.currentKeyId],
  )
  for (const row of rows) {
    const fresh = vault.seal(vault.openBytes({ ciphertext: row.ciphertext, keyId: row.key_id }, context(row)), context(row))
    await tx.query(`update ${table} set ${ciphertext} = $2, ${keyId} = $3 where id = $1`, [row.id, fresh.ciphertext, fresh.keyId])
  }
  return rows.length
}

type PayeeRow = SealedRow & {
  beneficiary_id: Uuid
  rail: BeneficiaryRecord['paymentRail']
  bank_code: string | null
  account_reference: string | null
}

/**
 * Uses any one beneficiary of the payee, because all have the same destination. For a paybill without one, its accounts'. The
 * longest ciphertext comes first, because a closed account's destinations are empty and the account may be open again since.
 */
const refingerprintBatch = async (tx: Tx, { vault, derivations }: Deps, locked: LockWait): Promise<number> => {
  const rows = await tx.query<PayeeRow>(
    `select y.id, y.workspace_id, b.id as beneficiary_id, b.payment_rail as rail, b.bank_code,
       case when y.paybill_id is not null then b.account_reference end as account_reference, b.destination_ciphertext as ciphertext, b.destination_key_id as key_id
     from payees y join lateral (
       select x.* from beneficiaries x where x.payee_id = y.id
         or x.payee_id = any(array(select account.id from payees account where account.paybill_id = y.id))
       order by octet_length(x.destination_ciphertext) desc limit 1) b on true
     where y.fingerprint_key_id <> $1 limit ${batchSize} for update of y ${locked}`,
    [derivations.currentKeyId],
  )
  for (const row of rows) {
    const destination = vault.open(
      { ciphertext: row.ciphertext, keyId: row.key_id },
      destinationContext(row.beneficiary_id, row.workspace_id),
    )
    const payee = { destination, bankCode: row.bank_code, accountReference: row.account_reference }
    // Without its destination, a payee gets a fingerprint that no other payee of its workspace has.
    const text = destination === '' ? row.id : fingerprintText(row.workspace_id, row.rail, payee)
    const values = [row.id, derivations.mac('fingerprint', text), derivations.currentKeyId]
    await tx.query('update payees set fingerprint = $2, fingerprint_key_id = $3 where id = $1', values)
  }
  return rows.length
}

const keysOf = ({ vault, derivations }: Deps) => ({ encryption_key: vault.currentKeyId, token_secret: derivations.currentKeyId })

type Step = (tx: Tx, locked: LockWait) => Promise<number>

/**
 * Waits only for the rows that are left, because payments wait for the rows of a step. Writes a row in the audit log with each
 * step, so that even an interrupted rotation has recorded its changes.
 */
const inBatches = async (deps: Deps, operator: Operator, table: string, step: Step): Promise<number> => {
  let total = 0
  for (const locked of ['skip locked', ''] as const)
    for (let more = true; more; ) {
      const done = await inTx(deps.db, async (tx) => {
        const rows = await step(tx, locked)
        const after = { [table]: rows, ...keysOf(deps) }
        if (rows > 0) audit(tx, operator, 'admin.rotate_keys', { workspaceId: null, after })
        return rows
      })
      total += done
      more = done > 0
    }
  return total
}

/**
 * Reseals values and renews fingerprints, so that older keys can be removed. Idempotent, even while the service runs. Keeps older
 * token secrets in use while a provider's address for deposits derives from one of them: its notifications would be rejected.
 */
export const rotateKeys = async (deps: Deps, operator: Operator): Promise<Record<string, number | string>> => {
  const counts: Record<string, number> = {}
  for (const column of sealedColumns)
    counts[column.table] = await inBatches(deps, operator, column.table, (tx, locked) => resealBatch(tx, deps, column, locked))
  counts.payees = await inBatches(deps, operator, 'payees', (tx, locked) => refingerprintBatch(tx, deps, locked))
  counts.provider_tokens = await inBatches(deps, operator, 'provider_tokens', (tx) => forgetTokens(tx, deps.vault))
  // The newest seal then uses the current secret, and vouches for the seals under older secrets.
  await sealAuditLog(deps)
  const current = keysOf(deps)
  const rails = await railsWithOldAddress(deps, depositsBy(realRails(deps.config, deps.clock)))
  await deps.db.query(
    `delete from installation_keys where (ring = 'ENCRYPTION_KEYS' and key_id <> $1) or (ring = 'TOKEN_SECRETS' and key_id <> $2 and $3)`,
    [current.encryption_key, current.token_secret, rails.length === 0],
  )
  if (rails.length === 0) return counts
  const still_needed = `Keep the older keys in TOKEN_SECRETS: the callback address for deposits over ${rails.join(' and ')} may derive from one. Run npm run admin -- rails register, then rotate-keys again.`
  return { ...counts, still_needed }
}
